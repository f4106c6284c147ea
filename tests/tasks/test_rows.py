"""Samples of several columns: what becomes text, what becomes a field, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from psopt.errors import DataError, InputError
from psopt.tasks import Row, Task, columns_of, fields_of, load_task

from tests.sweeps import each
from tests.tasks.loading import samples_of, write_records

SUBJECT = 'Bill, "due" {body}'
BODY = 'Dear all,\n{{ subject }} is "too high" – 20 €, 50 % {x}\n'
BOTH = ("subject", "body")


def records(n: int = 10) -> list[dict[str, Any]]:
    return [
        {"id": i, "subject": f"{SUBJECT} {i}", "body": BODY, "team": "sales" if i % 2 else "billing", "reason": f"r{i}"}
        for i in range(n)
    ]


@each("name", ["d.csv", "d.tsv", "d.jsonl", "d.parquet", "D.CSV"])
def test_every_format_gives_the_same_task(tmp_path: Path, name: str) -> None:
    path = write_records(tmp_path / name, records())
    task = load_task(path, inputs=BOTH, label_column="team", seed=0)
    expected = Task.from_records(records(), inputs=BOTH, label_column="team", name=task.name, seed=0)
    assert (task.train, task.val, task.test) == (expected.train, expected.val, expected.test)
    assert task.info.sha256 == expected.info.sha256
    assert (task.info.source, expected.info.source) == ("file", "memory")
    assert (task.labels, task.label_column) == (("billing", "sales"), "team")
    assert task.description == "Classify the text into one of the given classes."
    first = samples_of(task)[0]
    assert first.text == f"subject: {SUBJECT} 0\nbody: {BODY}"
    fields = {"text": first.text, "id": "0", "subject": f"{SUBJECT} 0", "body": BODY, "reason": "r0"}
    assert fields_of(first.text) == fields
    assert first.text.inputs == BOTH
    assert task.fields == ("id", "subject", "body", "reason")
    assert columns_of(path) == ("id", "subject", "body", "team", "reason")


def test_one_input_is_its_text_and_the_others_are_fields() -> None:
    for choice in ({"inputs": "body"}, {"inputs": ["body"]}, {"text_column": "body"}, {}):
        rows = [row | {"body": f"{row['id']} {BODY}"} for row in records()]
        first = samples_of(Task.from_records(rows, label_column="team", **choice))[0]
        assert first.text == f"0 {BODY}"
        assert fields_of(first.text)["subject"] == f"{SUBJECT} 0"


@each(
    "inputs, text",
    [(("clean",), "Hi"), (("text",), "<b>"), (("clean", "text"), "<b>"), (("clean", "title"), "<b>"), ((), "<b>")],
)
def test_the_field_text_is_a_single_input_whatever_else_is_called_so(inputs: tuple[str, ...], text: str) -> None:
    row = Row.of({"text": "<b>", "clean": "Hi", "title": "T"}, inputs)
    assert fields_of(row)["text"] == text
    assert fields_of(Row(str(row), row.fields))["text"] == text  # examples don't know their inputs


def test_a_text_and_a_label_stay_plain_and_keep_their_digest() -> None:
    rows = [{"text": f"t{i}", "label": "ab"[i % 2]} for i in range(10)]
    task = Task.from_records(rows)
    assert {type(sample.text) for sample in samples_of(task)} == {str}
    assert task.fields == ("text",)
    more = Task.from_records([row | {"extra": 1} for row in rows])
    assert more.info.sha256 == task.info.sha256
    assert more.fields == ("text", "extra")


def test_an_empty_cell_is_left_out_where_another_input_is_not_empty() -> None:
    rows = [row | {"subject": None if row["id"] == 3 else row["subject"], "stars": 4.0} for row in records()]
    task = Task.from_records(rows, inputs=("subject", "stars"), label_column="team")
    sample = next(sample for sample in samples_of(task) if sample.id == "3")
    assert sample.text == "stars: 4"
    assert sample.text.fields["subject"] == ""


@each(
    "change, choice, message",
    [
        ({"subject": " ", "body": None}, BOTH, "rows, record 1: the inputs 'subject' and 'body' are all"),
        ({"body": ["a"]}, BOTH, "record 1: the input (column 'body') is ['a'], not text"),
        ({"body": "a\0b"}, BOTH, "record 1: the input (column 'body') holds a NUL character"),
        ({}, ("subject", "boddy"), "has no column 'boddy'; did you mean 'body'?; its columns: 'id', 'subject'"),
        ({}, ("subject", "team"), "column 'team' can't hold both an input and the labels"),
        ({}, {"inputs": "subject", "text_column": "body"}, "name one or other"),
    ],
)
def test_what_can_not_be_an_input_is_told_in_a_line(change: Any, choice: Any, message: str) -> None:
    rows = records()
    rows[0] |= change
    options = choice if isinstance(choice, dict) else {"inputs": choice}
    with pytest.raises(InputError) as caught:
        Task.from_records(rows, name="rows", label_column="team", **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_that_some_rows_lack_is_told_with_its_row(tmp_path: Path) -> None:
    rows = records()
    del rows[4]["subject"]
    path = write_records(tmp_path / "d.jsonl", rows)
    with pytest.raises(DataError, match=r"d\.jsonl, line 5: the input \(column 'subject'\) is missing"):
        load_task(path, inputs=BOTH, label_column="team")
    assert "subject" not in load_task(path, inputs="id", label_column="team").fields


def test_labels_that_nobody_names_are_looked_for_among_the_rest() -> None:
    rows = [{"category": f"c{i}", "message": "m", "target": "ab"[i % 2]} for i in range(10)]
    task = Task.from_records(rows, inputs=("category", "message"))
    assert (task.labels, task.label_column) == (("a", "b"), "target")
