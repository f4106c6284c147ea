"""Which labels are ordered, and how: by their values, or as the user says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from psopt.errors import DataError, InputError
from psopt.tasks import Task, load_task

if TYPE_CHECKING:
    from pathlib import Path

RECORDS = [(f"text {label} number {number}", label) for label in ("low", "medium", "high") for number in range(8)]
STARS = [(f"text {stars} number {number}", str(stars)) for stars in (1, 2, 10) for number in range(8)]


def test_labels_that_are_numbers_stand_at_their_values() -> None:
    task = Task.from_records(STARS, answers="ordinal")
    assert task.labels == ("1", "2", "10")
    assert task.positions == (1.0, 2.0, 10.0)


def test_other_labels_stand_in_the_order_that_is_given() -> None:
    task = Task.from_records(RECORDS, answers="ordinal", order=["low", "medium", "high", "urgent"])
    assert task.labels == ("low", "medium", "high", "urgent")
    assert task.positions == (0.0, 1.0, 2.0, 3.0)


def test_without_it_labels_have_no_order() -> None:
    assert Task.from_records(STARS).positions == ()
    assert Task.from_records(STARS).labels == ("1", "10", "2")


def test_a_task_file_says_it_and_the_caller_counts_for_more(tmp_path: Path) -> None:
    rows = "\n".join(f"{text},{label}" for text, label in RECORDS)
    (tmp_path / "data.csv").write_text(f"text,label\n{rows}\n")
    told = 'data = "data.csv"\nanswers = "ordinal"\norder = ["low", "medium", "high"]\n'
    (tmp_path / "task.toml").write_text(told)
    assert load_task(tmp_path / "task.toml").labels == ("low", "medium", "high")
    upside_down = load_task(tmp_path / "task.toml", order=["high", "medium", "low"])
    assert upside_down.labels == ("high", "medium", "low")
    assert Task.from_csv(tmp_path / "data.csv", answers="ordinal", order=["low", "medium", "high"]).positions


@pytest.mark.parametrize(
    ("answers", "order", "says"),
    [
        ("ordinal", (), "'high' is no number, so say the order"),
        ("ordinal", ("low", "medium"), "'high' is not in the order"),
        ("ordinal", ("low", "medium", "hihg"), "did you mean 'hihg'"),
        ("ordinal", ("low", "medium", "high", "low"), "names one twice"),
        ("ordnal", (), "did you mean 'ordinal'"),
        (None, ("low", "medium", "high"), "--answers ordinal"),
        ("label", ("low", "medium", "high"), "--answers ordinal"),
    ],
)
def test_what_makes_no_order_is_refused(answers: str | None, order: tuple[str, ...], says: str) -> None:
    with pytest.raises((DataError, InputError), match=says):
        Task.from_records(RECORDS, answers=answers, order=order)


def test_two_labels_that_are_one_number_are_refused() -> None:
    records = [*STARS, ("text again", "1.0"), ("text once more", "1.0"), ("text at last", "1.0")]
    with pytest.raises(DataError, match="the same number"):
        Task.from_records(records, answers="ordinal")


def test_built_in_data_sets_have_no_order() -> None:
    with pytest.raises(InputError, match="--answers is for data files"):
        load_task("trec", answers="ordinal")


def test_positions_go_with_labels() -> None:
    task = Task.from_records(RECORDS)
    for wrong in ((0.0, 1.0), (0.0, 2.0, 1.0)):
        with pytest.raises(DataError, match="position each, rising"):
            Task(task.name, task.description, task.labels, task.train, task.val, task.test, task.info, positions=wrong)


def test_numbers_that_nobody_has_said_to_be_a_scale_are_pointed_out() -> None:
    assert "--answers ordinal" in Task.from_records(STARS).info.note
    assert Task.from_records(STARS, answers="label").info.note == ""
    assert Task.from_records(STARS, answers="ordinal").info.note == ""
    assert Task.from_records(RECORDS).info.note == ""


def test_labels_that_are_several_in_one_are_pointed_out() -> None:
    records = [(f"text {label} {number}", label) for label in ("a", "b", "a,b") for number in range(6)]
    assert "'a,b' looks like several in one" in Task.from_records(records).info.note


def test_a_column_of_answers_is_no_column_of_classes() -> None:
    records = [(f"the bill number {number}", f"{number % 40} EUR") for number in range(60)]
    with pytest.raises(DataError, match=r"40 labels are mostly met once or twice.*--answers number"):
        Task.from_records(records)
