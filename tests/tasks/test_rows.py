"""Samples of several columns: what becomes text, what becomes a field, and what is refused."""

from __future__ import annotations

import copy
import datetime as dt
import json
import pickle
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from psopt.errors import DataError, InputError
from psopt.tasks import Row, Task, columns_of, fields_of, load_task

if TYPE_CHECKING:
    from pathlib import Path

SUBJECT = 'Bill, "due" {body}'
BODY = 'Dear all,\n{{ subject }} is "too high" – 20 €, 50 % {x}\n'


class Undecided:
    """A missing value that is neither equal nor unequal to anything, as pandas' NA."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Any:
        return self

    __ne__ = __eq__

    def __bool__(self) -> bool:
        raise TypeError("boolean value of NA is ambiguous")


def records(n: int = 10) -> list[dict[str, Any]]:
    return [
        {"id": i, "subject": f"{SUBJECT} {i}", "body": BODY, "team": "sales" if i % 2 else "billing", "reason": f"r{i}"}
        for i in range(n)
    ]


def quoted(value: Any) -> str:
    return '"' + str(value).replace('"', '""') + '"'


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lines = [",".join(rows[0]), *(",".join(map(quoted, row.values())) for row in rows)]
        path.write_text("\ufeff" + "\r\n".join(lines), encoding="utf-8", newline="")
    return path


def everything(task: Task) -> list[Any]:
    return sorted((*task.train, *task.val, *task.test), key=lambda sample: sample.id)


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl", "d.parquet"])
def test_every_format_gives_the_same_rows(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, records())
    task = load_task(path, inputs=("subject", "body"), label_column="team")
    first = everything(task)[0]
    assert first.text == f"subject: {SUBJECT} 0\nbody: {BODY}"
    assert fields_of(first.text) == {
        "text": first.text,
        "id": "0",
        "subject": f"{SUBJECT} 0",
        "body": BODY,
        "reason": "r0",
    }
    assert first.text.inputs == ("subject", "body")
    assert (task.fields, task.label_column) == (("id", "subject", "body", "reason"), "team")
    assert columns_of(path) == ("id", "subject", "body", "team", "reason")
    assert Task.from_records(records(), inputs=("subject", "body"), label_column="team").info.sha256 == task.info.sha256


def test_one_input_is_its_text_and_the_others_are_fields() -> None:
    for choice in ({"inputs": "body"}, {"inputs": ["body"]}, {"text_column": "body"}, {}):
        rows = [row | {"body": f"{row['id']} {BODY}"} for row in records()]
        first = everything(Task.from_records(rows, label_column="team", **choice))[0]
        assert first.text == f"0 {BODY}"
        assert fields_of(first.text)["subject"] == f"{SUBJECT} 0"


def test_a_text_and_a_label_stay_plain_and_keep_their_digest() -> None:
    rows = [{"text": f"t{i}", "label": "ab"[i % 2]} for i in range(10)]
    task = Task.from_records(rows)
    assert {type(sample.text) for sample in everything(task)} == {str}
    assert task.fields == ("text",)
    more = Task.from_records([row | {"extra": 1} for row in rows])
    assert more.info.sha256 == task.info.sha256
    assert more.fields == ("text", "extra")


def test_cells_become_texts() -> None:
    cells: dict[Any, Any] = {
        "whole": 3.0,
        "half": 0.5,
        "nothing": None,
        "nan": float("nan"),
        "na": Undecided(),
        "tags": ["ä", 1],
        "day": dt.date(2026, 1, 2),
        "yes": True,
        "huge": "x" * 100_001,
        "nul": "\0",
        7: "no name",
    }
    task = Task.from_records([{**row, **cells} for row in records()], inputs=("subject", "body"), label_column="team")
    fields = everything(task)[0].text.fields
    assert {name: fields[name] for name in list(cells)[:8]} == {
        "whole": "3",
        "half": "0.5",
        "nothing": "",
        "nan": "",
        "na": "",
        "tags": '["ä", 1]',
        "day": "2026-01-02",
        "yes": "True",
    }
    assert not {"huge", "nul", 7, "team"} & set(fields)
    assert "huge" not in task.fields


def test_an_empty_cell_is_left_out_where_another_input_is_not_empty() -> None:
    rows = [row | {"subject": None if row["id"] == 3 else row["subject"], "stars": 4.0} for row in records()]
    task = Task.from_records(rows, inputs=("subject", "stars"), label_column="team")
    sample = next(sample for sample in everything(task) if sample.id == "3")
    assert sample.text == "stars: 4"
    assert sample.text.fields["subject"] == ""


@pytest.mark.parametrize(
    ("change", "choice", "message"),
    [
        (
            {"subject": " ", "body": None},
            ("subject", "body"),
            "rows, record 1: the inputs 'subject' and 'body' are all",
        ),
        ({"body": float("nan")}, ("body",), "rows, record 1: the input (column 'body') is empty"),
        ({"body": ["a"]}, ("subject", "body"), "record 1: the input (column 'body') is ['a'], not text"),
        ({"subject": "x" * 100_001}, ("subject", "body"), "(column 'subject') has 100,001 characters; at most 100,000"),
        ({"body": "a\0b"}, ("subject", "body"), "record 1: the input (column 'body') holds a NUL character"),
        ({"body": "\ud800"}, ("subject", "body"), "(column 'body') holds half a surrogate pair"),
        ({}, ("subject", "boddy"), "has no column 'boddy'; did you mean 'body'?; its columns: 'id', 'subject'"),
        ({}, ("subject", "team"), "column 'team' can't hold both an input and the labels"),
        ({}, ("body", "body"), "column 'body' stands twice among the inputs"),
    ],
)
def test_what_can_not_be_an_input_is_told_in_a_line(change: Any, choice: Any, message: str) -> None:
    rows = records()
    rows[0] |= change
    with pytest.raises(InputError) as caught:
        Task.from_records(rows, name="rows", inputs=choice, label_column="team")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_column_that_some_rows_lack_is_told_with_its_row(tmp_path: Path) -> None:
    rows = records()
    del rows[4]["subject"]
    path = write(tmp_path / "d.jsonl", rows)
    with pytest.raises(DataError, match=r"d\.jsonl, line 5: the input \(column 'subject'\) is missing"):
        load_task(path, inputs=("subject", "body"), label_column="team")
    assert "subject" not in load_task(path, inputs="id", label_column="team").fields


def test_a_text_column_beside_inputs_is_refused() -> None:
    with pytest.raises(InputError, match="name one or other"):
        Task.from_records(records(), inputs=("subject",), text_column="body", label_column="team")


def test_labels_that_nobody_names_are_looked_for_among_the_rest() -> None:
    rows = [{"category": f"c{i}", "message": "m", "target": "ab"[i % 2]} for i in range(10)]
    task = Task.from_records(rows, inputs=("category", "message"))
    assert (task.labels, task.label_column) == (("a", "b"), "target")


def test_a_task_file_names_inputs_and_the_caller_overrules_it(tmp_path: Path) -> None:
    write(tmp_path / "d.csv", records())
    words = tmp_path / "task.toml"
    words.write_text('data = "d.csv"\ninputs = ["subject", "body"]\nlabel_column = "team"\n')
    assert everything(load_task(words))[0].text.inputs == ("subject", "body")
    assert everything(load_task(words, inputs=("subject",)))[0].text.inputs == ("subject",)
    assert columns_of(words) == ("id", "subject", "body", "team", "reason")
    words.write_text('data = "d.csv"\ninputs = "subject"\n')
    with pytest.raises(DataError, match="inputs must be a list of columns"):
        load_task(words)


@pytest.mark.parametrize("name", ["cb", "rte"])
def test_pairs_have_their_fields(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PSOPT_OFFLINE", "1")
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path)
    task = load_task(name, inputs=columns_of(name))
    assert task.fields == columns_of(name) == ("premise", "hypothesis")
    for sample in everything(task):
        fields = fields_of(sample.text)
        assert sample.text == f"Premise: {fields['premise']} Hypothesis: {fields['hypothesis']}"
    with pytest.raises(InputError, match=r"(cb|rte): has no column 'premiss'; did you mean 'premise'"):
        load_task(name, inputs=("premiss",))


def test_an_unknown_data_set_is_told_before_its_columns_are_looked_for() -> None:
    with pytest.raises(InputError, match="did you mean 'trec'"):
        columns_of("trek")


def test_a_row_is_copied_with_its_fields() -> None:
    row = Row.of({"a": "1", "b": "2"}, ("a", "b"))
    for again in (copy.deepcopy(row), pickle.loads(pickle.dumps(row))):
        assert again == row == "a: 1\nb: 2"
        assert (again.fields, again.inputs) == (row.fields, row.inputs)
