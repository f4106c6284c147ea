"""Data whose answers are several labels, numbers, texts or JSON; and what can be wrong with them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import DataError, InputError
from psopt.tasks import AnswerSpec, Task, load_task

from tests.sweeps import each

if TYPE_CHECKING:
    from pathlib import Path


def task_of(answers: list[Any], spec: str, **options: Any) -> Task:
    records = [{"text": f"text number {place}", "label": answer} for place, answer in enumerate(answers)]
    return Task.from_records(records, answers=spec, **options)


def references(task: Task) -> dict[str, str | None]:
    return {sample.text: sample.label for sample in (*task.train, *task.val, *task.test)}


def test_numbers_are_read_with_units_and_separators() -> None:
    cells = ["1,250.50 EUR", 7, 7.0, "-3", "12 %", "1 000", 0.1]
    task = task_of(cells, "number:1%")
    assert sorted(filter(None, references(task).values())) == sorted(["1250.5", "7", "7", "-3", "12", "1000", "0.1"])
    assert (task.labels, task.answers, task.spec.tolerance) == ((), "number:1%", (0.01, True))
    assert (len(task.train), len(task.val), len(task.test)) == (4, 2, 1)


def test_sets_come_from_lists_json_and_separators() -> None:
    lists = task_of([["b", "a"], [], '["b"]', "['a', 'b']", None], "labels")
    assert lists.labels == ("a", "b")
    assert sorted(map(str, references(lists).values())) == ['["a", "b"]', '["a", "b"]', '["b"]', "[]", "[]"]
    parted = task_of(["b; a", "a", "", "b;"], "labels:;")
    assert sorted(map(str, references(parted).values())) == ['["a", "b"]', '["a"]', '["b"]', "[]"]


def test_texts_may_have_several_references() -> None:
    task = task_of([["NYC", "New York"], "Paris", '["a", "b"]', 1889], "text:token-f1")
    assert sorted(map(str, references(task).values())) == sorted(["1889", '["NYC", "New York"]', '["a", "b"]', "Paris"])


def test_json_may_be_written_or_an_object() -> None:
    task = task_of([{"b": 1, "a": [2]}, '{"a": 3}', [1], "5"], "text:json")
    assert sorted(map(str, references(task).values())) == ["5", "[1]", '{"a": 3}', '{"a": [2], "b": 1}']


def test_a_task_file_says_what_answers_are(tmp_path: Path) -> None:
    rows = [{"text": f"bill {n}", "amount": n} for n in range(10)]
    (tmp_path / "bills.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "bills.toml").write_text(
        'data = "bills.jsonl"\nlabel_column = "amount"\nanswers = "number:0.01"\ndescription = "What is due?"\n'
    )
    task = load_task(tmp_path / "bills.toml")
    assert (task.answers, task.description) == ("number:0.01", "What is due?")


def test_samples_are_drawn_as_they_come() -> None:
    """A share by label of numbers that are all different would take the alphabetically first."""
    task = task_of(list(range(300)), "number")
    drawn = task.subset(task.train, 30, seed=1)
    assert len(drawn) == 30
    assert task.classes == ()
    values = [int(str(sample.label)) for sample in drawn]
    assert 60 < sum(values) / 30 < 240


@each(
    "answers, spec, why",
    [
        (["1", "many", "2", "few"], "number", "is not a number in 2 rows: record 2, record 4 (the first: "),
        (["1", True, "2", "3"], "number", "record 2: the answer (column 'label') is not a number: 'True'"),
        (["1", None, "2", "3"], "number", "is not a number: empty"),
        (["a;b", "c", "d"], "labels:|", "the separator '|' of --answers labels:| never occurs in column 'label'"),
        (["a;b", "c", "d"], "labels", "is no list in 3 rows: record 1, record 2, record 3"),
        (
            [["a"], "b", ["c"]],
            "labels",
            "is no list: 'b'; write all as lists, or name what parts the labels of all, such as --answers labels:;",
        ),
        (
            ["a;b", ["c"], "d"],
            "labels:;",
            "record 2: the answer (column 'label') is a list, where others are parted by ';'",
        ),
        (["{", "1", "2"], "text:json", "record 1: the answer (column 'label') is not JSON: '{'"),
        ([["a", 1.5, None], "b", "c"], "text", "is not a text, or a list of texts: "),
        (["x" * 30_000, "b", "c"], "text", "30,000 characters; at most 20,000 are taken"),
        (["a\0b", "b", "c"], "text", "holds a NUL character"),
        (["1", "2"], "number", "3 splits need one each"),
    ],
)
def test_bad_answers_are_one_line(answers: list[Any], spec: str, why: str) -> None:
    with pytest.raises(DataError) as error:
        task_of(answers, spec)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def test_at_most_ten_rows_are_named() -> None:
    with pytest.raises(DataError, match=r"in 25 rows: record 1, .* record 10 and 15 more \(the first: .*'x'\)"):
        task_of(["x"] * 25, "number")


def test_labels_that_nobody_has_named_are_refused() -> None:
    with pytest.raises(DataError, match=r"label 'c' is not among its labels"):
        task_of([["a"], ["b", "c"], ["a", "b"]], "labels", labels=["a", "b"])
    with pytest.raises(DataError, match="answers are number, which have no labels"):
        task_of([1, 2, 3], "number", labels=["a", "b"])


@each(
    "spec, why",
    [
        ("numbers", "unknown answer type 'numbers'; did you mean 'number'"),
        ("number:", "can't be read: say number, or number:TOLERANCE"),
        ("number:-1", "can't be read"),
        ("number:nan%", "can't be read"),
        ("text:f1", "say text, text:token-f1 or text:json"),
        ("labels:", "labels:SEPARATOR"),
        ("label:x", "without a colon"),
        ("ordinal:x", "without a colon"),
        ("free:", "say free, free:embedding:THRESHOLD"),
        ("free:embedding:2", "say free"),
        ("free:nli:", "free:nli:MODEL"),
        ("free:judge:gpt", "free:judge:MODEL"),
        ("free:reference", "free:MODULE:NAME"),
        ("free:no function:x", "free:MODULE:NAME"),
        ("free+", "say free"),
        ("free+own", "say free"),
        ("free+judge:gpt", "a judge is for"),
        ("number+judge:openai/x", "a judge is for"),
        ("labels+jaccard", r"with \+exact"),
        ("number+exact", "say number"),
    ],
)
def test_answers_that_there_are_not(spec: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        AnswerSpec.read("data.csv", spec)


@pytest.mark.parametrize(
    ("written", "equivalence", "rating"),
    [
        ("free", ("embedding", ""), ("reference", "")),
        ("free:embedding:0.85+reference", ("embedding", "0.85"), ("reference", "")),
        ("free:nli:C:\\models\\mnli+judge:openai/a+b:free", ("nli", "C:\\models\\mnli"), ("judge", "openai/a+b:free")),
        ("free:nli:org/a+b+own.module:worth", ("nli", "org/a+b"), ("function", "own.module:worth")),
        ("free:judge:openai/gpt-4o", ("judge", "openai/gpt-4o"), ("reference", "")),
        ("free:own:same", ("function", "own:same"), ("reference", "")),
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


def test_an_order_is_for_ordinal_labels() -> None:
    with pytest.raises(InputError, match="is for --answers ordinal"):
        task_of([1, 2, 3], "number", order=["1", "2", "3"])
