from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from psopt.errors import UnknownNameError
from psopt.runs import RunDirectory, free_folder, pick_entry

if TYPE_CHECKING:
    from pathlib import Path


def test_files_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    directory = RunDirectory.make(tmp_path / "run")
    directory.write_json("run.json", {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        directory.write_json("run.json", {"a": float("nan")})
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == {"a": 1}
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["run.json"]


def test_folders_are_numbered_when_taken(tmp_path: Path) -> None:
    names = []
    for _ in range(3):
        folder = free_folder(tmp_path, "run")
        folder.mkdir()
        names.append(folder.name)
    assert names == ["run", "run-2", "run-3"]
    assert free_folder(tmp_path, "../../x").parent == tmp_path


ENTRIES = [
    {"id": "aaaa11112222", "knee": False, "val": {"f1": 0.8, "sensitivity": 0.2, "consistency": 0.4}},
    {"id": "bbbb11112222", "knee": True, "val": {"f1": 0.7, "sensitivity": 0.1, "consistency": 0.5}},
    {"id": "cccc11112222", "knee": False, "val": {"f1": 0.6, "sensitivity": 0.05, "consistency": 0.6}},
]


@pytest.mark.parametrize(
    ("which", "prompt"),
    [("knee", 1), ("f1", 0), ("sensitivity", 2), ("consistency", 2), ("aaaa", 0), ("bbbb11112222", 1)],
)
def test_picks(which: str, prompt: int) -> None:
    assert pick_entry(ENTRIES, which) is ENTRIES[prompt]


@pytest.mark.parametrize("which", ["kne", "dddd", "aaa"])
def test_what_can_t_be_picked_is_said(which: str) -> None:
    with pytest.raises(UnknownNameError, match="prompt of the front"):
        pick_entry(ENTRIES, which)
