"""Data whose answers are ordered labels, several labels, numbers, texts or JSON; and what can be wrong with them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import DataError, InputError
from psopt.tasks import AnswerSpec, Task, load_task

from tests.sweeps import each
from tests.tasks.loading import samples_of

if TYPE_CHECKING:
    from pathlib import Path

LEVELS = [(f"text {label} number {number}", label) for label in ("low", "medium", "high") for number in range(8)]
STARS = [(f"text {stars} number {number}", str(stars)) for stars in (1, 2, 10) for number in range(8)]
ORDER = ("low", "medium", "high")


def task_of(answers: list[Any], spec: str, **options: Any) -> Task:
    records = [{"text": f"text number {place}", "label": answer} for place, answer in enumerate(answers)]
    return Task.from_records(records, answers=spec, **options)


@pytest.mark.parametrize(
    ("spec", "cells", "references"),
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
        # texts may have several references, JSON may be written or an object
        (
            "text:token-f1",
            [["NYC", "New York"], "Paris", '["a", "b"]', 1889],
            ["1889", '["NYC", "New York"]', '["a", "b"]', "Paris"],
        ),
        ("text:json", [{"b": 1, "a": [2]}, '{"a": 3}', [1], "5"], ["5", "[1]", '{"a": 3}', '{"a": [2], "b": 1}']),
    ],
)
def test_answers_are_read_from_cells(spec: str, cells: list[Any], references: list[str]) -> None:
    task = task_of(cells, spec)
    assert sorted(sample.label for sample in samples_of(task)) == sorted(references)
    assert task.answers == spec
    assert task.labels == (("a", "b") if spec.startswith("labels") else ())


def test_lists_of_numbers_in_a_cell_are_sets_and_signs_in_a_text_are_no_list() -> None:
    assert task_of(["[1, 2]", [2, 1], "[2]"], "labels").labels == ("1", "2")
    texts = ["[see 'a' 'b']", """["it's 'a' 'b'"]""", "[1, 2]"]
    assert {sample.label for sample in samples_of(task_of(texts, "text"))} == set(texts)


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


@each(
    "answers, spec, why",
    [
        (["1", "many", "2", "few"], "number", "is not a number in 2 rows: record 2, record 4 (the first: "),
        (["1", True, "2", "3"], "number", "record 2: the answer (column 'label') is not a number: 'True'"),
        (["x"] * 25, "number", "record 10 and 15 more (the first: "),
        (["a;b", "c", "d"], "labels", "is no list in 3 rows: record 1, record 2, record 3"),
        ([["a"], "b", ["c"]], "labels", "is no list: 'b'; write all as lists, or name what parts the labels of all, "),
        (
            ["a;b", ["c"], "d"],
            "labels:;",
            "record 2: the answer (column 'label') is a list, where others are parted by",
        ),
        (
            ["['a' 'b']", "['c']", "[]"],
            "labels",
            "record 1: the answer (column 'label') is a list without commas: \"['a' ",
        ),
        (["['a', 'b'\n \"c's\"]", "d", "e"], "text", "is a list without commas: "),
        ([["a", 1.5, None], "b", "c"], "text", "is not a text, or a list of texts: "),
        (["1", "2"], "number", "3 splits need a different sample each"),
    ],
)
def test_bad_answers_are_one_line(answers: list[Any], spec: str, why: str) -> None:
    with pytest.raises(DataError) as error:
        task_of(answers, spec)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("answers", "spec", "options", "why"),
    [
        ([["a"], ["b", "c"], ["a", "b"]], "labels", {"labels": ["a", "b"]}, "label 'c' is none of the labels"),
        ([1, 2, 3], "number", {"labels": ["a", "b"]}, "answers are number, which have no labels"),
        ([1, 2, 3], "number", {"order": ["1", "2", "3"]}, "is for --answers ordinal"),
    ],
)
def test_labels_that_do_not_go_with_the_answers_are_refused(
    answers: list[Any], spec: str, options: dict[str, Any], why: str
) -> None:
    with pytest.raises((DataError, InputError), match=why):
        task_of(answers, spec, **options)


@each(
    "spec, why",
    [
        ("numbers", "unknown answer type 'numbers'; did you mean 'number'"),
        ("number:", "can't be read: say number, or number:TOLERANCE"),
        ("labels:", "labels:SEPARATOR"),
        ("label:x", "without a colon"),
        ("free:", "say free, free:embedding:THRESHOLD"),
        ("free:reference", "free:MODULE:NAME"),
        ("free+", "say free"),
        ("free+judge:gpt", "a judge is for"),
        ("labels+jaccard", r"with \+exact"),
        ("number+exact", "say number"),
    ],
)
def test_answers_that_there_are_not(spec: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        AnswerSpec.read("data.csv", spec)


@each(
    "written, equivalence, rating",
    [
        ("free", ("embedding", ""), ("reference", "")),
        ("free:embedding:0.85+reference", ("embedding", "0.85"), ("reference", "")),
        ("free:own:same+judge:openai/a+b:free", ("function", "own:same"), ("judge", "openai/a+b:free")),
        ("free:judge:openai/a+b+own.module:worth", ("judge", "openai/a+b"), ("function", "own.module:worth")),
    ],
)
def test_free_answers_say_what_compares_and_what_rates_them(
    written: str, equivalence: tuple[str, str], rating: tuple[str, str]
) -> None:
    spec = AnswerSpec.read("data.csv", written)
    assert (spec.equivalence.kind, spec.equivalence.name) == equivalence
    assert (spec.rating.kind, spec.rating.name) == rating
    assert AnswerSpec.read("data.csv", str(spec)) == spec


def test_sets_of_labels_may_be_the_same_or_not() -> None:
    spec = AnswerSpec.read("data.csv", "labels:;+exact")
    assert (spec.detail, spec.is_exact, str(spec)) == (";", True, "labels:;+exact")
    assert AnswerSpec.read("data.csv", "labels:+").detail == "+"


def test_ordered_labels_stand_at_their_values_or_as_the_user_says() -> None:
    stars = Task.from_records(STARS, answers="ordinal")
    assert (stars.labels, stars.positions, stars.info.note) == (("1", "2", "10"), (1.0, 2.0, 10.0), "")
    levels = Task.from_records(LEVELS, answers="ordinal", order=[*ORDER, "urgent"])
    assert (levels.labels, levels.positions) == ((*ORDER, "urgent"), (0.0, 1.0, 2.0, 3.0))


def test_numbers_that_nobody_has_said_to_be_a_scale_have_no_order_and_are_pointed_out() -> None:
    unsaid = Task.from_records(STARS)
    assert (unsaid.labels, unsaid.positions) == (("1", "10", "2"), ())
    assert "--answers ordinal" in unsaid.info.note
    assert Task.from_records(STARS, answers="label").info.note == Task.from_records(LEVELS).info.note == ""


def test_a_task_file_says_the_order_and_the_caller_counts_for_more(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in LEVELS))
    told = f'data = "data.csv"\nanswers = "ordinal"\norder = {json.dumps(ORDER)}\n'
    (tmp_path / "task.toml").write_text(told)
    assert load_task(tmp_path / "task.toml").labels == ORDER
    assert load_task(tmp_path / "task.toml", order=ORDER[::-1]).labels == ORDER[::-1]
    assert Task.from_csv(tmp_path / "data.csv", answers="ordinal", order=ORDER).positions


@pytest.mark.parametrize(
    ("records", "answers", "order", "says"),
    [
        (LEVELS, "ordinal", (), "'high' is no number, so say the order"),
        (LEVELS, "ordinal", ("low", "medium", "hihg"), "did you mean 'hihg'"),
        (LEVELS, "ordinal", (*ORDER, "low"), "names one twice"),
        (LEVELS, None, ORDER, "--answers ordinal"),
        ([*STARS, *((f"text {n} again", "1.0") for n in range(3))], "ordinal", (), "the same number"),
    ],
)
def test_what_makes_no_order_is_refused(records: Any, answers: str | None, order: tuple[str, ...], says: str) -> None:
    with pytest.raises((DataError, InputError), match=says):
        Task.from_records(records, answers=answers, order=order)


def test_what_looks_like_other_answers_than_one_label_is_pointed_out() -> None:
    several = [(f"text {label} {number}", label) for label in ("a", "b", "a,b") for number in range(6)]
    assert "'a,b' looks like several in one" in Task.from_records(several).info.note
    bills = [(f"the bill number {number}", f"{number % 40} EUR") for number in range(60)]
    with pytest.raises(DataError, match=r"40 labels are mostly met once or twice.*--answers number"):
        Task.from_records(bills)
