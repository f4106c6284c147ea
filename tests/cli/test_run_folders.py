"""Run folders as users meet them: in use, moved, robbed of a file, read-only; and output in poor encodings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from psopt.cli import main
from psopt.runs import held

from tests.cli.limited_runs import own_words
from tests.commands import environment, exit_code, run_command

if TYPE_CHECKING:
    from pathlib import Path

SIM = ["--model", "sim/wobble=0.5,seed=3", "--rephrasings", "2"]
SMALL = [*SIM, "--samples", "12", "--trials", "3", "--rounds", "1", "--out", "run"]
LABELS = ("Zoë – café", "naïve → 日本")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder with data whose labels few encodings have, and a run on them."""
    folder = tmp_path_factory.mktemp("made")
    rows = ["text,label"]
    rows += [f"when did {own_words(i)} end … 5 °,{LABELS[i % 2]}" for i in range(40)]
    (folder / "data.csv").write_text("\n".join(rows) + "\n", "utf-8")
    run_command("optimize", "--dataset", "data.csv", *SMALL, cwd=folder, env=environment(folder), code=0)
    return folder


@pytest.fixture
def here(made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it to spoil, and psopt in this process there: what it printed, and the one line that it said."""
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "here"


def refused(capsys: pytest.CaptureFixture[str], *words: Any) -> Any:
    code, said = exit_code(*words), capsys.readouterr().err
    assert code == 2, said
    (line,) = said.splitlines()
    return line


@pytest.mark.parametrize("words", [["resume", "run"], ["optimize", "--dataset", "data.csv", *SMALL]])
def test_a_second_process_in_a_folder_is_refused_and_the_first_is_named(
    here: Path, capsys: pytest.CaptureFixture[str], words: Any
) -> None:
    with held(here / "run", resume=True):
        assert f"run is in use: process {os.getpid()} on " in refused(capsys, *words)


def test_a_run_without_its_study_is_not_started_over(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "run" / "study.db").unlink()
    assert "run has lost its study.db, which holds its trials: put it back" in refused(capsys, "resume", "run")


def test_a_run_without_its_prompts_has_a_cure(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(here / "run" / "prompts")
    assert "write it anew with `psopt resume run`" in refused(capsys, "report", "run")
    assert exit_code("resume", "run", "--quiet") == 0
    assert len(list((here / "run" / "prompts").iterdir())) >= 2


def test_a_broken_manifest_has_a_cure(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "run" / "run.json").write_text("{")
    line = refused(capsys, "resume", "run")
    assert "run/run.json is damaged" in line
    assert "delete it and resume with its `psopt optimize` command and --resume" in line


def test_a_run_is_resumed_from_another_folder(
    made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(made / "run", tmp_path / "renamed")  # what was recorded is where its data are
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    assert exit_code("resume", "renamed", "--trials", "4", "--quiet") == 0, capsys.readouterr().err
    run = json.loads((tmp_path / "renamed" / "run.json").read_text("utf-8"))
    assert run["settings"]["folder"] == str(made)
    assert len(json.loads((tmp_path / "renamed" / "trials.json").read_text("utf-8"))["trials"]) >= 3
    assert run["calls"]["cached"] >= 3 * 2  # the trials done were read from the study
    run["settings"]["folder"] = str(tmp_path / "gone")
    (tmp_path / "renamed" / "run.json").write_text(json.dumps(run))
    line = refused(capsys, "resume", "renamed")
    assert f"data.csv is neither where the run was started ({tmp_path / 'gone'}), nor here: put it back" in line


def test_a_run_on_real_data_is_not_resumed_on_the_sample_that_comes_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data" / "trec"
    data.mkdir(parents=True)
    for name, lines in (("train_5500", 90), ("TREC_10", 60)):
        texts = [f"{('DESC:def', 'NUM:date')[i % 2]} When did {own_words(lines + i)} end ?" for i in range(lines)]
        (data / f"{name}.label").write_text("\n".join(texts) + "\n", "latin-1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PSOPT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PSOPT_DATA_DIR", str(tmp_path / "data"))
    with pytest.raises(SystemExit):
        main(["optimize", "--dataset", "trec", *SMALL, "--quiet"])
    capsys.readouterr()
    monkeypatch.delenv("PSOPT_DATA_DIR")
    line = refused(capsys, "resume", "run")
    assert "the samples (was " in line
    assert "set PSOPT_DATA_DIR to the folder of the data that it was begun with" in line


def test_a_run_of_an_earlier_version_is_resumed_where_its_data_are(here: Path) -> None:
    run = json.loads((here / "run" / "run.json").read_text("utf-8"))
    del run["settings"]["folder"]
    (here / "run" / "run.json").write_text(json.dumps(run))
    assert exit_code("resume", "run", "--quiet") == 0


def test_a_report_that_can_t_be_written_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("psopt.runs._directory.tempfile.NamedTemporaryFile", refuse)
    assert "run/report.html can't be written: Read-only file system" in refused(capsys, "report", "run")


EACH_COMMAND = """
import json, sys
from psopt.cli import main

for words in json.loads(sys.argv[1]):
    code = 0
    try:
        main(words)
    except SystemExit as ended:
        code = ended.code
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        stream.buffer.write(b"\\0%d\\0" % code)
"""


def test_no_verb_fails_at_characters_that_the_output_lacks(made: Any) -> None:
    """In a locale without any; encodings are swept by test_code_pages."""
    bare = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    prompt = str(next((made / "run" / "prompts").glob("*.json")))
    (made / "new.txt").write_text("when did it end …\n", "utf-8")
    data = ["--dataset", "data.csv"]
    commands = [
        [],
        ["resume", "run"],
        ["diagnose", *data, *SIM],
        ["diagnose", *data, *SIM, "--json"],
        ["compare", *data, *SIM, "--model2", "sim/accuracy=0.9"],
        ["check", *data, *SIM, "--min-f1", "0", "--json"],
        ["classify", "--prompt", prompt, "new.txt"],
        ["classify", "--prompt", prompt, "new.txt", "--json"],
        ["rephrase", *data],
        ["select", "run"],
        ["select", "run", "--json"],
        ["export", "run"],
        ["export", "run", "--format", "json"],
        ["report", "run"],
        ["data", "list"],
        ["select", "run", "日本"],
        ["diagnose", "--dataset", "日本.csv"],
    ]
    done = subprocess.run(
        [sys.executable, "-P", "-c", EACH_COMMAND, json.dumps(commands)],
        cwd=made,
        env={**environment(made), **bare},
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    printed, said = (stream.split(b"\0") for stream in (done.stdout, done.stderr))
    assert len(printed) == len(said) == 2 * len(commands) + 1
    for words, out, err, code in zip(commands, printed[::2], said[::2], said[1::2], strict=False):
        assert b"Traceback" not in err, words
        assert b"bug of psopt" not in err, words
        expected = 2 if "日本" in "".join(words) else 0
        assert int(code) == expected, (words, err)
        if "--json" in words or words[-1:] == ["json"]:
            assert set(json.loads(out.decode("utf-8")))
