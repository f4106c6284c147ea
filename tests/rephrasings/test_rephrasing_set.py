"""A set of rephrasings is sound, or it does not come into being.

A description of several lines is asked as it was written; only what is made of it is one paragraph.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import InputError
from psopt.rephrasings import RephrasingOptions, RephrasingSet, freeze_rephrasings, read_file, to_file
from psopt.runs import read_source
from psopt.search_spaces import Prompt, render

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.tasks import Task

ONE = RephrasingSet("a b", ("a b", "c"), ("d",), "file")


def test_the_digest_depends_on_both_sets_and_on_the_order_and_not_on_the_source() -> None:
    digests = [
        ONE.sha256,
        RephrasingSet("a b", ("a b", "d"), ("c",), "file").sha256,
        RephrasingSet("a b", ("a b", "c", "e"), ("d",), "file").sha256,
        RephrasingSet("a b", ("a b", "e", "c"), ("d",), "file").sha256,
    ]
    assert len(set(digests)) == 4
    assert RephrasingSet("a b", ("a b", "c"), ("d",), "rules").sha256 == ONE.sha256
    # on every machine: printf '["a b", ["a b", "c"], ["d"]]' | sha256sum
    assert ONE.sha256 == "7be5963f8ba71428871859473963a35e27c6bd7210eb7ad126f6b6833bc60e4a"


@each(
    "search, heldout, message",
    [
        (("b",), (), "first search rephrasing"),
        (("a", "b", "B!"), (), "stands twice"),
        (("a", "b"), ("A.",), "'A.' stands twice, first as 'a'"),
        (("a", " "), (), "one paragraph"),
        (("a", "b\u2028c"), (), "one paragraph"),
    ],
)
def test_a_set_that_is_not_sound_is_refused(search: Any, heldout: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RephrasingSet("a", search, heldout, "file")


@each(
    "content, message",
    [
        ("[]", "expected an object"),
        ("{", "no valid JSON"),
        ({"search": ...}, "'search' must be a list of texts"),
        ({"search": [{"txt": "a"}]}, "number 1 of 'search'"),
        ({"source": "dreams"}, "builtin, rules, file or a model, not from 'dreams'"),
        ({"search": ["a b", "A b"]}, "stands twice"),
        ({"heldout": [{"text": "c d", "form": 3}]}, "'form' of number 1 of 'heldout' must be an object, not 3"),
    ],
)
def test_a_file_that_is_damaged_or_holds_no_set_is_refused_in_one_line(
    content: Any, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    if isinstance(content, dict):
        content = json.dumps({name: value for name, value in {**to_file(ONE), **content}.items() if value is not ...})
    path.write_text(content)
    with pytest.raises(InputError, match=message) as refused:
        read_file(path)
    assert str(path) in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


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
    # a set of an earlier version still fits
    flat = freeze_rephrasings(task, " ".join(TEXT.split()), 4, 3, 1, RephrasingOptions())
    file.write_text(json.dumps(to_file(flat)))
    assert freeze_rephrasings(task, TEXT, 4, 3, 1, RephrasingOptions(file=file)) == flat
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
