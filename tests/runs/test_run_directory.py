"""A run's folder: files that are whole, prompts to pick, one process at a time, and no set-up in anybody's way."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import optuna
import pytest
from psopt.errors import InputError, UnknownNameError
from psopt.runs import RunDirectory, free_folder, held, n_evaluated, pick_entry
from psopt.search import open_study


def test_files_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    directory = RunDirectory.make(tmp_path / "run")
    directory.write_json("run.json", {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        directory.write_json("run.json", {"a": float("nan")})
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == {"a": 1}
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["run.json"]


def test_a_study_lies_in_the_run_s_folder_whatever_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "out%41 what?x=1"
    optuna.create_study(storage=RunDirectory.make(folder).storage_url)
    assert n_evaluated(folder / "study.db") == 0
    assert (folder / "study.db").exists()
    assert list(tmp_path.iterdir()) == [folder]


def test_folders_are_numbered_when_taken(tmp_path: Path) -> None:
    for name in ("run", "run-2", "run-3"):
        folder = free_folder(tmp_path, "run")
        assert folder == tmp_path / name
        folder.mkdir()
    assert free_folder(tmp_path, "../../x").parent == tmp_path


ENTRIES = [
    {"id": "aaaa11112222", "knee": False, "val": {"f1": 0.8, "sensitivity": 0.2, "consistency": 0.4}},
    {"id": "bbbb11112222", "knee": True, "val": {"f1": 0.7, "sensitivity": 0.1, "consistency": 0.5}},
    {"id": "cccc11112222", "knee": False, "val": {"f1": 0.6, "sensitivity": 0.05, "consistency": 0.6}},
]


def test_prompts_are_picked_by_what_they_are_best_in_or_by_their_id() -> None:
    picks = {"knee": 1, "f1": 0, "sensitivity": 2, "consistency": 2, "aaaa": 0, "bbbb11112222": 1}
    for which, prompt in picks.items():
        assert pick_entry(ENTRIES, which) is ENTRIES[prompt], which
    for which in ("kne", "dddd", "aaa"):
        with pytest.raises(UnknownNameError, match="prompt of the front"):
            pick_entry(ENTRIES, which)
    original = {"id": "dddd11112222"}
    assert pick_entry(ENTRIES, "dddd", original=original) is pick_entry(ENTRIES, "original", original=original)


def hold(folder: Path, *, resume: bool = False) -> set[str]:
    """Hold a folder for a moment; the files in it meanwhile."""
    with held(folder, resume=resume) as directory:
        assert directory.path == folder
        return {file.name for file in folder.iterdir()}


def test_a_folder_in_use_is_refused_with_who_uses_it(tmp_path: Path) -> None:
    since = r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\+00:00"
    with held(tmp_path / "run") as directory:
        directory.write_json("run.json", {"finish_reason": "running"})
        for resume in (False, True):
            said = rf"run is in use: process {os.getpid()} on \S+ works on it since {since}; wait"
            with pytest.raises(InputError, match=said):
                hold(tmp_path / "run", resume=resume)
    hold(tmp_path / "run", resume=True)
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


def leave(folder: Path, *names: str, content: Any = None, trials: int = 0) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        if name == "study.db":
            study = open_study(f"sqlite:///{folder / name}", "run", "tpe", 0)
            for _ in range(trials):
                study.tell(study.ask(), [1.0, 0.0, 1.0])
        else:
            written = json.dumps(manifest() if content is None else content) if name == "run.json" else ""
            (folder / name).write_text(written)


@pytest.mark.parametrize(
    ("names", "stays"),
    [
        (["study.db-journal", ".psopt-x1y2"], set()),
        ([".lock", "run.json", "rephrasings.json", "study.db", "proposals.json", "error.log"], set()),
        (["run.json", "answers.db", "answers.db-wal"], {"answers.db", "answers.db-wal"}),  # they were paid for
    ],
)
def test_what_a_set_up_leaves_makes_room_for_another_run(tmp_path: Path, names: list[str], stays: set[str]) -> None:
    leave(tmp_path / "run", *names)
    assert hold(tmp_path / "run") == {".lock", *stays}


def test_a_study_whose_making_broke_off_is_made_again(tmp_path: Path) -> None:
    leave(tmp_path / "run", "run.json")
    optuna.storages.RDBStorage(f"sqlite:///{tmp_path / 'half.db'}")  # tables, and no study yet
    for broken in (b"", (tmp_path / "half.db").read_bytes()):
        (tmp_path / "run" / "study.db").write_bytes(broken)
        with held(tmp_path / "run", resume=True) as directory:
            assert open_study(directory.storage_url, "run", "tpe", 0, resume=True).trials == []


@pytest.mark.parametrize(
    ("names", "left", "said"),
    [
        (["run.json"], {"content": {}}, "holds a run already: resume with `psopt resume"),
        (["run.json"], {"content": manifest(settings={"storage": "postgresql://host/db"})}, "holds a run already"),
        (["run.json", "report.html"], {}, "holds a run already"),
        (["run.json", "study.db"], {"trials": 1}, "holds a run already"),
        (["notes.txt"], {}, "is not empty"),
        (["rephrasings.json"], {}, "exists and is not empty"),  # of one's own, or of a run
    ],
)
def test_what_somebody_may_need_is_not_written_over(tmp_path: Path, names: list[str], left: Any, said: str) -> None:
    leave(tmp_path / "run", *names, **left)
    before = {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()}
    with pytest.raises(InputError, match=said):
        hold(tmp_path / "run")
    assert {file.name: file.read_bytes() for file in (tmp_path / "run").iterdir()} == before
