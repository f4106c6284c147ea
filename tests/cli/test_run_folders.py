"""Run folders as users meet them: in use, moved, robbed of a file, read-only; and output in poor encodings."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from psopt.runs import held

from tests.cli.limited_runs import own_words
from tests.cli.telling import check_refused
from tests.commands import psopt

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
