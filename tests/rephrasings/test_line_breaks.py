"""A description of several lines is asked as it was written; only what is made of it is one paragraph."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from psopt.rephrasings import RephrasingOptions, freeze_rephrasings, read_file, to_file
from psopt.runs import read_source
from psopt.search_spaces import Prompt, render

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

TEXT = "Sort the question by what it asks for.\n- dates are numbers\n- names are persons"


def test_the_original_keeps_its_lines_through_rephrasing_and_files(task: Task, tmp_path: Path) -> None:
    found = freeze_rephrasings(task, TEXT, 4, 3, 1, RephrasingOptions())
    assert found.search[0] == found.original == TEXT
    assert all("\n" not in text for text in (*found.search[1:], *found.heldout))
    file = tmp_path / "rephrasings.json"
    file.write_text(json.dumps(to_file(found)))
    assert read_file(file) == found
    again = freeze_rephrasings(task, TEXT, 4, 3, 1, RephrasingOptions(file=file))
    assert again.sha256 == found.sha256
    orders = freeze_rephrasings(task, TEXT, 2, 1, 1, RephrasingOptions(families=("format",)))
    assert orders.search == (TEXT, TEXT)


def test_a_text_file_makes_a_prompt_on_its_lines(task: Task, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text(TEXT.replace("\n", "  \r\n") + "\n\n")
    prompt = read_source(file).for_task(task)
    assert prompt == Prompt(TEXT, task.labels, task.noun)
    assert TEXT in render(prompt, "who ?")[1]["content"]
    assert Prompt.from_dict(prompt.to_dict()).id == prompt.id
    (tmp_path / "one.txt").write_text("Sort  the question.\n")
    assert read_source(tmp_path / "one.txt").for_task(task).description == "Sort the question."


def test_a_set_of_an_earlier_version_still_fits_a_description_of_several_lines(task: Task, tmp_path: Path) -> None:
    flat = freeze_rephrasings(task, " ".join(TEXT.split()), 4, 3, 1, RephrasingOptions())
    file = tmp_path / "rephrasings.json"
    file.write_text(json.dumps(to_file(flat)))
    assert freeze_rephrasings(task, TEXT, 4, 3, 1, RephrasingOptions(file=file)) == flat
