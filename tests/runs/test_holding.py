"""A run's folder: one process at a time, and a set-up that broke off is in nobody's way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import InputError
from psopt.runs import held
from psopt.search import open_study

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOLD = """
import sys
from pathlib import Path
from psopt.runs import held
with held(Path(sys.argv[1])) as directory:
    directory.write_json("run.json", {"finish_reason": "running"})
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Any]:
    """Another process that holds tmp_path/run."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "run")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_in_use_is_refused_and_who_uses_it_is_said(holder: Any, tmp_path: Path, resume: bool) -> None:
    said = rf"run is in use: process {holder.pid} on \S+ works on it since 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\+00:00; wait"
    with pytest.raises(InputError, match=said), held(tmp_path / "run", resume=resume):
        pass


def test_a_killed_process_lets_its_folder_go(holder: Any, tmp_path: Path) -> None:
    holder.kill()
    holder.wait()
    with held(tmp_path / "run", resume=True) as directory:
        assert directory.path == tmp_path / "run"


def test_a_folder_is_refused_to_a_second_run_in_the_same_process_and_free_afterwards(tmp_path: Path) -> None:
    with held(tmp_path / "run") as directory:
        directory.write_json("run.json", {"finish_reason": "running"})
        with pytest.raises(InputError, match=f"process {os.getpid()} on"), held(tmp_path / "run", resume=True):
            pass
    with held(tmp_path / "run", resume=True):
        pass
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["run.json"]


def test_nothing_is_left_of_a_run_that_never_began(tmp_path: Path) -> None:
    def begin() -> None:
        with held(tmp_path / "runs" / "run") as directory:
            open_study(directory.storage_url, "run", "tpe", 0)
            (directory.path / ".psopt-half").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        begin()
    assert not (tmp_path / "runs").exists()


def manifest(**changes: Any) -> dict[str, Any]:
    return {"finish_reason": "running", "baseline": None, "front": [], "settings": {"storage": None}, **changes}


def leave(folder: Path, *names: Any, content: Any = None) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        if name == "study.db":
            open_study(f"sqlite:///{folder / name}", "run", "tpe", 0)
        elif name == "run.json":
            (folder / name).write_text(json.dumps(manifest() if content is None else content))
        else:
            (folder / name).write_bytes(b"")


@pytest.mark.parametrize(
    "names",
    [
        [],
        [".lock"],
        ["study.db"],
        ["study.db-journal", ".psopt-x1y2"],
        [".lock", "run.json"],
        ["run.json", "rephrasings.json", "study.db", "proposals.json", "error.log"],
    ],
)
def test_what_a_set_up_leaves_makes_room_for_another_run(tmp_path: Path, names: Any) -> None:
    leave(tmp_path / "run", *names)
    with held(tmp_path / "run") as directory:
        assert {file.name for file in directory.path.iterdir()} == {".lock"}


def test_answers_that_were_paid_for_stay(tmp_path: Path) -> None:
    leave(tmp_path / "run", "run.json", "answers.db", "answers.db-wal")
    with held(tmp_path / "run") as directory:
        assert {file.name for file in directory.path.iterdir()} == {".lock", "answers.db", "answers.db-wal"}


def test_a_study_whose_making_broke_off_is_made_again(tmp_path: Path) -> None:
    leave(tmp_path / "run", "run.json")
    for broken in (b"", study_without_a_name(tmp_path)):
        (tmp_path / "run" / "study.db").write_bytes(broken)
        with held(tmp_path / "run", resume=True) as directory:
            study = open_study(directory.storage_url, "run", "tpe", 0, resume=True)
            assert study.trials == []


def study_without_a_name(folder: Path) -> Any:
    import optuna

    optuna.storages.RDBStorage(f"sqlite:///{folder / 'half.db'}")
    return (folder / "half.db").read_bytes()


@pytest.mark.parametrize(
    ("names", "content", "said"),
    [
        (["run.json"], {}, "holds a run already: resume with `psopt resume"),
        (["run.json"], manifest(baseline={"id": "x"}), "holds a run already"),
        (["run.json"], manifest(settings={"storage": "postgresql://host/db"}), "holds a run already"),
        (["run.json", "report.html"], None, "holds a run already"),
        (["notes.txt"], None, "is not empty"),
        (["study.db", "notes.txt"], None, "is not empty"),
    ],
)
def test_what_somebody_may_need_is_not_written_over(tmp_path: Path, names: list[str], content: Any, said: str) -> None:
    leave(tmp_path / "run", *names, content=content)
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    with pytest.raises(InputError, match=said), held(tmp_path / "run"):
        pass
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before


def test_a_study_with_a_finished_trial_is_not_written_over(tmp_path: Path) -> None:
    leave(tmp_path / "run", "run.json")
    study = open_study(f"sqlite:///{tmp_path / 'run' / 'study.db'}", "run", "tpe", 0)
    study.tell(study.ask(), [1.0, 0.0, 1.0])
    with pytest.raises(InputError, match="holds a run already"), held(tmp_path / "run"):
        pass


def test_a_run_that_has_lost_its_study_is_not_started_over(tmp_path: Path) -> None:
    leave(tmp_path / "run", "run.json", content=manifest(baseline={"id": "x"}, finish_reason="trials"))
    with pytest.raises(InputError, match=r"has lost its study\.db.*put it back"), held(tmp_path / "run", resume=True):
        pass


def test_a_file_of_one_s_own_is_not_taken_for_what_a_run_left(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "rephrasings.json").write_text("{}")
    with pytest.raises(InputError, match="exists and is not empty"), held(folder):
        pass
    assert (folder / "rephrasings.json").exists()
