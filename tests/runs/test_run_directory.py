"""What lies in a run's folder: files that are whole, prompts to pick by name, and a study whose trials are counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import optuna
import pytest
from psopt.errors import UnknownNameError
from psopt.runs import RunDirectory, free_folder, n_evaluated, pick_entry

if TYPE_CHECKING:
    from pathlib import Path


def test_files_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    directory = RunDirectory.make(tmp_path / "run")
    directory.write_json("run.json", {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        directory.write_json("run.json", {"a": float("nan")})
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == {"a": 1}
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["run.json"]


@pytest.mark.parametrize("name", ["out%41", "what?x=1", "50%"])
def test_a_study_lies_in_the_run_s_folder_whatever_its_name(name: str, tmp_path: Path) -> None:
    directory = RunDirectory.make(tmp_path / name)
    optuna.create_study(storage=directory.storage_url)
    assert n_evaluated(tmp_path / name / "study.db") == 0
    assert (tmp_path / name / "study.db").exists()
    assert [file.name for file in tmp_path.iterdir()] == [name]


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
