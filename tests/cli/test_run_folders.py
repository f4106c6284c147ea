"""Run folders and files as users meet them, in use, moved, robbed, damaged, hostile: one line, and nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from psopt.runs import held

from tests.cli.limited_runs import SMALL as SIZES
from tests.cli.limited_runs import environment, optimize, own_words
from tests.cli.limited_runs import psopt as priced
from tests.cli.telling import check_refused
from tests.commands import psopt
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from pathlib import Path


SIM = ["--model", "sim/wobble=0.5,seed=3", "--rephrasings", "2"]
SMALL = [*SIM, "--samples", "12", "--trials", "3", "--rounds", "1", "--out", "run"]
LABELS = ("Zoë – café", "naïve → 日本")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data whose labels few encodings have, and a run on them."""
    folder = tmp_path_factory.mktemp("made")
    rows = [f"when did {own_words(i)} end … 5 °,{LABELS[i % 2]}" for i in range(40)]
    (folder / "data.csv").write_text("\n".join(["text,label", *rows]) + "\n", "utf-8")
    psopt(folder, "optimize", "--dataset", "data.csv", *SMALL, code=0)
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path) -> Path:
    """A copy of it to spoil."""
    shutil.copytree(made, tmp_path / "here")
    return tmp_path / "here"


def manifest(run: Path) -> Any:
    return json.loads((run / "run.json").read_text("utf-8"))


def test_a_second_process_in_a_folder_is_refused_and_the_first_is_named(here: Path) -> None:
    with held(here / "run", resume=True):
        for words in (["resume", "run"], ["optimize", "--dataset", "data.csv", *SMALL]):
            check_refused(psopt(here, *words), f"run is in use: process {os.getpid()} on ")


def test_a_run_that_has_lost_a_file_has_a_cure(here: Path) -> None:
    run = here / "run"
    shutil.rmtree(run / "prompts")
    check_refused(psopt(here, "report", "run"), "write it anew with `psopt resume run`")
    settings = manifest(run)
    del settings["settings"]["folder"]  # as earlier versions wrote it; the data are here
    (run / "run.json").write_text(json.dumps(settings))
    psopt(here, "resume", "run", "--quiet", code=0)
    assert len(list((run / "prompts").iterdir())) >= 2
    (run / "study.db").unlink()
    check_refused(psopt(here, "resume", "run"), "run has lost its study.db, which holds its trials: put it back")


def test_a_run_is_resumed_from_another_folder(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made / "run", tmp_path / "renamed")  # what was recorded is where its data are
    psopt(tmp_path, "resume", "renamed", "--trials", "4", "--quiet", code=0)
    run = manifest(tmp_path / "renamed")
    assert run["settings"]["folder"] == str(made)
    assert len(json.loads((tmp_path / "renamed" / "trials.json").read_text("utf-8"))["trials"]) >= 3
    assert run["calls"]["cached"] >= 3 * 2  # the trials done were read from the study
    run["settings"]["folder"] = str(tmp_path / "gone")
    (tmp_path / "renamed" / "run.json").write_text(json.dumps(run))
    lost = f"data.csv is neither where the run was started ({tmp_path / 'gone'}), nor here: put it back"
    check_refused(psopt(tmp_path, "resume", "renamed"), lost)


def test_a_run_on_real_data_is_not_resumed_on_the_sample_that_comes_along(tmp_path: Path) -> None:
    data = tmp_path / "data" / "trec"
    data.mkdir(parents=True)
    for name, lines in (("train_5500", 90), ("TREC_10", 60)):
        texts = [f"{('DESC:def', 'NUM:date')[i % 2]} When did {own_words(lines + i)} end ?" for i in range(lines)]
        (data / f"{name}.label").write_text("\n".join(texts) + "\n", "latin-1")
    psopt(tmp_path, "optimize", "--dataset", "trec", *SMALL, code=0, PSOPT_DATA_DIR=str(tmp_path / "data"))
    cure = "set PSOPT_DATA_DIR to the folder of the data that it was begun with"
    check_refused(psopt(tmp_path, "resume", "run"), "the samples (was ", cure)


def test_a_report_that_can_t_be_written_is_one_line(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("psopt.runs._directory.tempfile.NamedTemporaryFile", refuse)
    check_refused(psopt(here, "report", "run"), "run/report.html can't be written: Read-only file system")


_SIZES = ["--trials", "3", "--samples", "12", "--rounds", "1", "--race", "off"]
_DEEP = "[" * 100_000 + "]" * 100_000
_ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
_SCRIPT = "</script><script>alert(1)</script>"


def cut(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def check_one_line(ended: subprocess.CompletedProcess[str], said: str = "") -> None:
    assert ended.returncode == 2, ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert "bug of psopt" not in ended.stderr
    assert "psopt: " in ended.stderr.splitlines()[-1]
    assert said in ended.stderr


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("study.db", "start anew in another folder"),
        ("run.json", "run/run.json is damaged"),
        ("run.json", "delete it and resume with its `psopt optimize` command"),
        ("rephrasings.json", "restore the file, or remove it to have them made again"),
    ],
)
def test_a_file_that_was_cut_is_named_with_a_cure(here: Path, name: str, cure: str) -> None:
    cut(here / "run" / name)
    ended = psopt(here, "resume", "run", "--trials", "4")
    check_one_line(ended, cure)
    assert "psopt resume" not in ended.stderr


def test_what_is_written_at_the_end_may_be_damaged(here: Path) -> None:
    for name in ("front.json", "proposals.json", "contributions.json", "spent.json", "report.html"):
        cut(here / "run" / name)
    psopt(here, "resume", "run", "--trials", "4", code=0)


def start(folder: Path, limit: str, *words: str) -> subprocess.Popen[str]:
    """Start a process under a limit that the shell sets."""
    command = ["bash", "-c", f"{limit}; exec {sys.executable} -m psopt {' '.join(words)}"]
    pipe, env = subprocess.PIPE, environment(folder)
    return subprocess.Popen(command, cwd=folder, env=env, stdout=pipe, stderr=pipe, text=True)


def test_a_full_disk_is_one_line_and_with_room_the_run_goes_on(data: Path) -> None:
    """A limit on the size of files stands for the disk: no test may mount one."""
    with FakeServer() as server:
        optimize(data, server, *_SIZES, code=0)
        size = (data / "run" / "study.db").stat().st_size // 1024
        started = start(data, f"ulimit -f {size - 20}; trap '' XFSZ", "resume", "run", "--trials", "5")
        out, err = started.communicate()
        check_one_line(subprocess.CompletedProcess([], started.returncode, out, err))
        before = server.counts()["requests"]
        priced(data, "resume", "run", "--trials", "5", code=0)
        assert server.counts()["requests"] > before
        assert server.counts()["answered_twice"] == 0


@pytest.mark.parametrize(
    ("name", "content", "option"),
    [
        ("deep.yaml", _DEEP, "--prompt"),
        ("aliases.yaml", f"{_ALIASES}messages: *i\n", "--prompt"),
        ("tag.yaml", '- role: user\n  content: !!python/object/apply:os.system ["touch pwned"]\n', "--prompt"),
        ("deep.toml", f"a = {_DEEP}", "--config"),
        ("task.toml", f"labels = {_DEEP}", "--task-file"),
        ("deep.jsonl", f'{{"text": {_DEEP}}}', "--dataset"),
        ("rephrasings.json", _DEEP, "--rephrasings-file"),
    ],
    ids=lambda value: value if len(value) < 30 else "",
)
def test_a_hostile_file_is_one_line(data: Path, name: str, content: str, option: str) -> None:
    (data / name).write_text(content)
    given = [] if option == "--dataset" else ["--dataset", "data.csv"]
    began = time.monotonic()
    check_one_line(priced(data, "diagnose", *given, option, name, "--model", "minilm"), name)
    assert not (data / "pwned").exists()
    assert time.monotonic() - began < 30  # aliases of aliases would take for ever


@pytest.mark.parametrize(
    "words",
    [
        ["data", "fetch", "../../etc/passwd"],
        ["models", "fetch", "../x"],
        ["export", "run", "--pick", "../../../etc/passwd"],
        ["optimize", "--dataset", "hf:../../x", "--model", "minilm"],
        ["optimize", "--dataset", "trec/../../x", "--model", "minilm"],
        ["diagnose", "--dataset", "data.csv", "--model", "gguf/../../../etc/passwd"],
        ["diagnose", "--dataset", "data.csv", "--model", "hf/../../../etc"],
        ["dashboard", "../nothing"],
    ],
)
def test_a_name_that_leads_elsewhere_is_one_line(made: Path, words: list[str]) -> None:
    before = sorted(made.parent.iterdir())
    check_one_line(psopt(made, *words))
    assert sorted(made.parent.iterdir()) == before


def test_names_and_labels_in_data_write_nothing_elsewhere_and_run_nothing(data: Path, server: FakeServer) -> None:
    with (data / "odd.jsonl").open("w") as file:
        for n in range(72):
            text = f"what is thing {n * 37} called {_SCRIPT} javascript:alert({n})"
            row = {"id": f"../../evil{n}", "text": text, "label": ("../x", _SCRIPT)[n % 2]}
            file.write(json.dumps({**row, "split": ("train", "val", "test")[n % 3]}) + "\n")
    given = ["--dataset", "odd.jsonl", "--model", "openai/test", "--api-base", server.url, "--out", "odd"]
    priced(data, "optimize", *given, *SIZES, *_SIZES, code=0)
    assert _SCRIPT not in (data / "odd" / "report.html").read_text()
    assert not [*data.parent.glob("*evil*"), *data.glob("evil*")]
