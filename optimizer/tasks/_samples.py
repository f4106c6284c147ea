"""From rows to samples: every fault in a value is named with its place."""

from __future__ import annotations

import reprlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.errors import DataError
from psopt.tasks._answer_spec import AnswerSpec
from psopt.tasks._cells import check_characters, column_names, is_empty, text_of
from psopt.tasks._columns import ColumnChoice, find_columns, missing_column
from psopt.tasks._data import Sample
from psopt.tasks._files import read_rows
from psopt.tasks._references import read_references

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.tasks._columns import Columns
    from psopt.tasks._dataset import TrainTest
    from psopt.tasks._formats import Record

# Guards against a wrong column or a broken quote, not measured: no class name is a page.
LONGEST_LABEL = 200
ONE_LABEL = AnswerSpec()
_SPLITS = {"train": "train", "training": "train", "test": "test"} | dict.fromkeys(
    ("val", "valid", "validation", "dev"), "val"
)


class Placed(NamedTuple):
    """A sample, and the split that the data put it in: train, val, test, or None where they don't say."""

    sample: Sample
    split: str | None = None


class Table(NamedTuple):
    """The samples of a table, and the column that holds their labels; empty where there is none."""

    placed: list[Placed]
    label_column: str = ""


def make_samples(
    source: str, rows: Sequence[Record], choice: ColumnChoice, *, require_labels: bool, spec: AnswerSpec = ONE_LABEL
) -> Table:
    """Make a sample of each row. Without an id column ids are the rows' numbers, from 1.

    Where labels aren't required, data without a label column, or with an empty one, give unlabelled samples.

    Raises
    ------
    DataError
        If a column is missing, a text or a label can't be used, or two samples have one id.
    """
    names = column_names([row.values for row in rows])
    columns = find_columns(source, names, choice)
    label_column = columns.label
    if label_column is None and require_labels:
        raise missing_column(source, names, "label", "--label-column")
    if label_column and not require_labels and all(is_empty(row.values.get(label_column)) for row in rows):
        columns = replace(columns, label=None)
    only_texts = not choice.inputs
    labels = _labels(source, rows, columns, spec)
    placed = [
        _placed(f"{source}, {row.where}", row, columns, number, label, only_texts=only_texts)
        for number, (row, label) in enumerate(zip(rows, labels, strict=True), start=1)
    ]
    _check_ids(source, rows, placed)
    return Table(placed, label_column or "")


def samples_of(path: Path, rows: Sequence[Record], prefix: str) -> tuple[Sample, ...]:
    """Make a sample of each row of a built-in data set: columns ``text`` and ``label``; ids begin with the prefix.

    A text stays what it is, plain or with fields of its own: other columns are no fields.
    """
    table = make_samples(str(path), rows, ColumnChoice(text="text", label="label"), require_labels=True)
    return tuple(
        replace(sample, id=f"{prefix}-{sample.id}", text=row.values["text"])
        for (sample, _), row in zip(table.placed, rows, strict=True)
    )


def read_train_test(folder: Path) -> TrainTest:
    """Read (train, test) from ``train.jsonl`` and ``test.jsonl``: text, label and, where there is one, subclass."""
    train = folder / "train.jsonl"
    test = folder / "test.jsonl"
    return samples_of(train, read_rows(train), "train"), samples_of(test, read_rows(test), "test")


def _placed(where: str, row: Record, columns: Columns, number: int, label: str | None, *, only_texts: bool) -> Placed:
    values = row.values
    sample = Sample(
        id=_id(values.get(columns.id), where) if columns.id else str(number),
        text=text_of(where, values, columns, only_texts=only_texts),
        label=label,
        subclass=_optional(values.get(columns.subclass)) if columns.subclass else None,
    )
    return Placed(sample, _split(values.get(columns.split), where) if columns.split else None)


def _labels(source: str, rows: Sequence[Record], columns: Columns, spec: AnswerSpec) -> list[str | None]:
    """What is right for each row: a label, or what else answers are."""
    column = columns.label
    if column is None:
        return [None] * len(rows)
    if spec.is_open:
        return read_references(source, rows, column, spec)
    return [_label(row.values.get(column), f"{source}, {row.where}: the label (column {column!r})") for row in rows]


def _label(value: Any, field: str) -> str:
    """A label as text: whole numbers and truth values become theirs."""
    if is_empty(value):
        raise DataError(f"{field} is empty; fill it in or remove the row")
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas writes whole numbers so where some are missing
    if not isinstance(value, (str, int)):
        raise DataError(f"{field} is {reprlib.repr(value)}, not the name of a class; name another column")
    label = str(value).strip()
    if len(label) > LONGEST_LABEL:
        raise DataError(
            f"{field} has {len(label):,} characters; at most {LONGEST_LABEL} are taken: is it the right one?"
        )
    if len(label.splitlines()) > 1:
        raise DataError(f"{field} holds a line break: {label!r}")
    check_characters(label, field)
    return label


def _id(value: Any, where: str) -> str:
    if is_empty(value):
        raise DataError(f"{where}: the id is empty; fill it in, or leave the column out")
    return str(value).strip()


def _check_ids(source: str, rows: Sequence[Record], placed: Sequence[Placed]) -> None:
    places: dict[str, str] = {}
    for row, (sample, _) in zip(rows, placed, strict=True):
        if sample.id in places:
            raise DataError(
                f"{source}, {row.where}: id {sample.id!r} is that of {places[sample.id]} too; ids must differ"
            )
        places[sample.id] = row.where


def _split(value: Any, where: str) -> str:
    split = str(value).strip().lower()
    if split not in _SPLITS:
        raise DataError(f"{where}: the split is {reprlib.repr(value)}; it must be train, val or test")
    return _SPLITS[split]


def _optional(value: Any) -> str | None:
    return None if is_empty(value) else str(value).strip()
