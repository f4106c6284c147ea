"""Tasks built in Python."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from psopt.errors import DataError
from psopt.tasks import Sample, Task

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = [(f"{label} {i}", label) for i in range(5) for label in ("good", "bad")]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"labels": ()}, "at least two labels, and this has none"),
        ({"labels": ("Number",)}, "only 'Number'"),
        ({"labels": ("Number", "Person", "Number")}, "stands twice"),
        ({"labels": ("Number", "Person", " ")}, "a label is empty"),
        ({"labels": ("Number", "Person", "a\nb")}, "line break"),
        ({"labels": ("Number", "Place")}, "'Person', which is no label"),
        ({"definitions": {"Persons": "x"}}, "did you mean 'Person'?"),
        ({"subclasses": {"Persons": {"x": "y"}}}, "subclasses name 'Persons'"),
        ({"test": (Sample("train-0", "x", "Number"),)}, "id 'train-0' stands twice"),
    ],
)
def test_a_task_that_cannot_be_worked_with_is_refused(task: Task, change: dict[str, Any], part: str) -> None:
    with pytest.raises(DataError) as caught:
        replace(task, **change)
    assert part in str(caught.value)


def test_pairs_and_mappings_give_the_same_task() -> None:
    mappings = ({"text": text, "label": label} for text, label in PAIRS)
    assert Task.from_records(mappings) == Task.from_records(PAIRS) == Task.from_records([list(pair) for pair in PAIRS])


def test_words_given_reach_the_task() -> None:
    task = Task.from_records(
        PAIRS,
        name="mood",
        description="Say how it is.",
        noun="word",
        labels=["good", "bad"],
        definitions={"bad": "awful"},
    )
    assert (task.name, task.description, task.noun) == ("mood", "Say how it is.", "word")
    assert task.labels == ("good", "bad")
    assert task.definitions == {"bad": "awful"}
    assert task.info.name == "mood"


@pytest.mark.parametrize(
    ("records", "part"),
    [
        ([], "task: no records"),
        ([*PAIRS, ("a",)], "record 11: expected a mapping or a (text, label) pair"),
        ([*PAIRS, "ab"], "record 11: expected"),
        ([*PAIRS, 7], "record 11: expected"),
        ([*PAIRS, ("a", None)], "record 11: the label"),
        ([("a", "x"), ("b", "x")], "all samples have the label 'x'"),
    ],
)
def test_records_that_cannot_be_used_are_told(records: Any, part: str) -> None:
    with pytest.raises(DataError) as caught:
        Task.from_records(records)
    assert part in str(caught.value)


def test_labels_given_must_hold_those_of_the_records() -> None:
    with pytest.raises(DataError, match="'bad' is not among its labels"):
        Task.from_records(PAIRS, labels=["good", "ugly"])


def test_from_csv_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mood.csv"
    path.write_text("said,kind\n" + "".join(f"{text},{label}\n" for text, label in PAIRS))
    task = Task.from_csv(path, text_column="said", label_column="kind", seed=0)
    assert (task.name, len(task.train), len(task.val), len(task.test)) == ("mood", 6, 2, 2)


def test_importing_tasks_loads_nothing_heavy() -> None:
    """`psopt --help` and a script's first line stay quick."""
    heavy = "{'numpy', 'pyarrow', 'pooch', 'requests', 'sklearn', 'pandas'}"
    code = f"import sys, psopt.tasks; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
