"""Data whose answers are ordered labels, several labels, numbers, texts or JSON; and what can be wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from psopt.errors import InputError
from psopt.tasks import AnswerSpec, Task, load_task

from tests.sweeps import each
from tests.tasks.loading import samples_of

ORDER = ("low", "medium", "high")
LEVELS = ORDER * 8
STARS = ("1", "2", "10") * 8


def task_of(answers: Any, spec: str | None, **options: Any) -> Task:
    records = [{"text": f"text number {place}", "label": answer} for place, answer in enumerate(answers)]
    return Task.from_records(records, answers=spec, **options)


@each(
    "spec, cells, references",
    [
        # numbers have units and separators
        (
            "number:1%",
            ["EUR1,250.50", 7, 7.0, "-3", "12 %", "1 000", 0.1],
            ["1250.5", "7", "7", "-3", "12", "1000", "0.1"],
        ),
        # sets come from lists, JSON and separators
        ("labels", [["b", "a"], [], '["b"]', "['a', 'b']", None], ['["a", "b"]', '["a", "b"]', '["b"]', "[]", "[]"]),
        ("labels:;", ["b; a", "a", "", "b;"], ['["a", "b"]', '["a"]', '["b"]', "[]"]),
        ("labels", ["[1, 2]", [2, 1], "[2]"], ['["1", "2"]', '["1", "2"]', '["2"]']),
        # texts may have several references, and signs in a text are no list; JSON may be written or an object
        (
            "text:token-f1",
            [["NYC", "New York"], "Paris", '["a", "b"]', 1889, "[see 'a' 'b']", """["it's 'a' 'b'"]"""],
            ["1889", '["NYC", "New York"]', '["a", "b"]', "Paris", "[see 'a' 'b']", """["it's 'a' 'b'"]"""],
        ),
        ("text:json", [{"b": 1, "a": [2]}, '{"a": 3}', [1], "5"], ["5", "[1]", '{"a": 3}', '{"a": [2], "b": 1}']),
    ],
)
def test_answers_are_read_from_cells(spec: str, cells: list[Any], references: list[str]) -> None:
    task = task_of(cells, spec)
    assert sorted(sample.label for sample in samples_of(task)) == sorted(references)
    assert task.answers == spec
    labels = {label for written in references for label in json.loads(written)} if spec.startswith("labels") else ()
    assert task.labels == tuple(sorted(labels))


def test_numbers_are_split_and_drawn_as_they_come() -> None:
    """A share by label of numbers that are all different would take the alphabetically first."""
    few = task_of([*range(7)], "number:1%")
    assert few.spec.tolerance == (0.01, True)
    assert (len(few.train), len(few.val), len(few.test)) == (4, 2, 1)
    task = task_of(list(range(300)), "number")
    drawn = task.subset(task.train, 30, seed=1)
    assert len(drawn) == 30
    assert task.classes == ()
    assert 60 < sum(int(str(sample.label)) for sample in drawn) / 30 < 240


# Cells, what they are said to be, further options, and what is told.
BAD: list[tuple[Any, str | None, dict[str, Any], str]] = [
    (["1", "many", "2", "few"], "number", {}, "is not a number in 2 rows: record 2, record 4 (the first: "),
    (
        ["1", "2.000 €", "2", "3"],
        "number",
        {},
        "record 2: the answer (column 'label') is a number whose size is unclear",
    ),
    (["1", True, "2", "3"], "number", {}, "record 2: the answer (column 'label') is not a number: 'True'"),
    (["x"] * 25, "number", {}, "record 10 and 15 more (the first: "),
    (["1", "2"], "number", {}, "3 splits need a different sample each"),
    ([["a"], "b", ["c"]], "labels", {}, "is no list: 'b'; write all as lists, or name what parts the labels of all, "),
    (["a;b", ["c"], "d"], "labels:;", {}, "(column 'label') is a list, where others are parted by"),
    (["['a' 'b']", "['c']", "[]"], "labels", {}, "(column 'label') is a list without commas: \"['a' "),
    (["['a', 'b'\n \"c's\"]", "d", "e"], "text", {}, "is a list without commas: "),
    ([["a", 1.5, None], "b", "c"], "text", {}, "is not a text, or a list of texts: "),
    ([["a"], ["b", "c"], ["a", "b"]], "labels", {"labels": ["a", "b"]}, "label 'c' is none of the labels"),
    ([1, 2, 3], "number", {"labels": ["a", "b"]}, "answers are number, which have no labels"),
    ([1, 2, 3], "number", {"order": ["1", "2", "3"]}, "is for answers='ordinal'"),
    (LEVELS, "ordinal", {}, "'high' is no number, so say the order"),
    (LEVELS, "ordinal", {"order": ("low", "medium", "hihg")}, "did you mean 'hihg'"),
    (LEVELS, "ordinal", {"order": (*ORDER, "low")}, "names one twice"),
    (LEVELS, None, {"order": ORDER}, "answers='ordinal'"),
    ((*STARS, "1.0", "1.0", "1.0"), "ordinal", {}, "the same number"),
    ([f"{number % 40} EUR" for number in range(60)], None, {}, "40 labels are mostly met once or twice; name a column"),
]


@each("answers, spec, options, why", BAD)
def test_bad_answers_are_told_in_one_line(answers: Any, spec: str | None, options: Any, why: str) -> None:
    with pytest.raises(InputError) as error:
        task_of(answers, spec, **options)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


@each(
    "spec, why",
    [
        ("numbers", "unknown answer type 'numbers'; did you mean 'number'"),
        ("number:", "can't be read: say number, or number:TOLERANCE"),
        ("labels:", "labels:SEPARATOR"),
        ("label:x", "without a colon"),
        ("free:", "say free, free:embedding:THRESHOLD"),
        ("free:reference", "free:MODULE:NAME"),
        ("free+judge:gpt", "a judge is for"),
        ("labels+jaccard", r"with \+exact"),
    ],
)
def test_answers_that_there_are_not(spec: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        AnswerSpec.read("data.csv", spec)


@each(
    "written, equivalence, rating",
    [
        ("free", ("embedding", ""), ("reference", "")),
        ("free:own:same+judge:openai/a+b:free", ("function", "own:same"), ("judge", "openai/a+b:free")),
        ("free:judge:openai/a+b+own.module:worth", ("judge", "openai/a+b"), ("function", "own.module:worth")),
    ],
)
def test_free_answers_say_what_compares_and_what_rates_them(written: str, equivalence: Any, rating: Any) -> None:
    spec = AnswerSpec.read("data.csv", written)
    assert (spec.equivalence.kind, spec.equivalence.name) == equivalence
    assert (spec.rating.kind, spec.rating.name) == rating
    assert AnswerSpec.read("data.csv", str(spec)) == spec


def test_sets_of_labels_may_be_the_same_or_not() -> None:
    spec = AnswerSpec.read("data.csv", "labels:;+exact")
    assert (spec.detail, spec.is_exact, str(spec)) == (";", True, "labels:;+exact")
    assert AnswerSpec.read("data.csv", "labels:+").detail == "+"


def test_ordered_labels_stand_at_their_values_or_as_the_user_says(tmp_path: Path) -> None:
    stars = task_of(STARS, "ordinal")
    assert (stars.labels, stars.positions, stars.info.note) == (("1", "2", "10"), (1.0, 2.0, 10.0), "")
    levels = task_of(LEVELS, "ordinal", order=[*ORDER, "urgent"])
    assert (levels.labels, levels.positions) == ((*ORDER, "urgent"), (0.0, 1.0, 2.0, 3.0))
    rows = "".join(f"text {place},{label}\n" for place, label in enumerate(LEVELS))
    (tmp_path / "data.csv").write_text(f"text,label\n{rows}")
    (tmp_path / "task.toml").write_text(f'data = "data.csv"\nanswers = "ordinal"\norder = {json.dumps(ORDER)}\n')
    assert load_task(tmp_path / "task.toml").labels == ORDER
    assert load_task(tmp_path / "task.toml", order=ORDER[::-1]).labels == ORDER[::-1]
    assert Task.from_csv(tmp_path / "data.csv", answers="ordinal", order=ORDER).positions


def test_what_looks_like_other_answers_than_one_label_is_pointed_out() -> None:
    unsaid = task_of(STARS, None)
    assert (unsaid.labels, unsaid.positions) == (("1", "10", "2"), ())
    assert "--answers ordinal" in unsaid.info.note
    assert task_of(STARS, "label").info.note == task_of(LEVELS, None).info.note == ""
    assert "'a,b' looks like several in one" in task_of(("a", "b", "a,b") * 6, None).info.note
