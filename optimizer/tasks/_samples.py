"""From rows to samples: every fault in a value is named with its place."""

from __future__ import annotations

import reprlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.errors import DataError
from psopt.tasks._columns import find_columns, missing_column
from psopt.tasks._data import Sample
from psopt.tasks._files import read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.tasks._columns import Columns
    from psopt.tasks._dataset import TrainTest
    from psopt.tasks._formats import Row

# Guards against a wrong column or a broken quote, not measured: no text to classify is a book, no class name a page.
LONGEST_TEXT = 100_000
LONGEST_LABEL = 200
_SPLITS = {"train": "train", "training": "train", "test": "test"} | dict.fromkeys(
    ("val", "valid", "validation", "dev"), "val"
)


class Placed(NamedTuple):
    """A sample, and the split that the data put it in: train, val, test, or None where they don't say."""

    sample: Sample
    split: str | None = None


def make_samples(
    source: str,
    rows: Sequence[Row],
    text_column: str | None,
    label_column: str | None,
    *,
    require_labels: bool,
) -> list[Placed]:
    """Make a sample of each row. Without an id column ids are the rows' numbers, from 1.

    Where labels aren't required, data without a label column, or with an empty one, give unlabelled samples.

    Raises
    ------
    DataError
        If a column is missing, a text or a label can't be used, or two samples have one id.
    """
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    columns = find_columns(source, names, text_column, label_column)
    if columns.label is None and require_labels:
        raise missing_column(source, names, "label")
    if columns.label and not require_labels and all(_is_empty(row.values.get(columns.label)) for row in rows):
        columns = replace(columns, label=None)
    placed = [_placed(f"{source}, {row.where}", row, columns, number) for number, row in enumerate(rows, start=1)]
    _check_ids(source, rows, placed)
    return placed


def samples_of(path: Path, rows: Sequence[Row], prefix: str) -> tuple[Sample, ...]:
    """Make a sample of each row of a built-in data set: columns ``text`` and ``label``; ids begin with the prefix."""
    placed = make_samples(str(path), rows, "text", "label", require_labels=True)
    return tuple(replace(sample, id=f"{prefix}-{sample.id}") for sample, _ in placed)


def read_train_test(folder: Path) -> TrainTest:
    """Read (train, test) from ``train.jsonl`` and ``test.jsonl``: text, label and, where there is one, subclass."""
    train = folder / "train.jsonl"
    test = folder / "test.jsonl"
    return samples_of(train, read_rows(train), "train"), samples_of(test, read_rows(test), "test")


def _placed(where: str, row: Row, columns: Columns, number: int) -> Placed:
    values = row.values
    sample = Sample(
        id=_id(values.get(columns.id), where) if columns.id else str(number),
        text=_text(values.get(columns.text), f"{where}: the text (column {columns.text!r})"),
        label=_label(values.get(columns.label), f"{where}: the label (column {columns.label!r})")
        if columns.label
        else None,
        subclass=_optional(values.get(columns.subclass)) if columns.subclass else None,
    )
    return Placed(sample, _split(values.get(columns.split), where) if columns.split else None)


def _text(value: Any, field: str) -> str:
    if _is_empty(value):
        raise DataError(f"{field} is empty; fill it in or remove the row")
    if not isinstance(value, str):
        raise DataError(f"{field} is {reprlib.repr(value)}, not text; name another column or put it in quotes")
    if len(value) > LONGEST_TEXT:
        raise DataError(
            f"{field} has {len(value):,} characters; at most {LONGEST_TEXT:,} are taken: shorten it or remove the row"
        )
    _check_characters(value, field)
    return value


def _label(value: Any, field: str) -> str:
    """A label as text: whole numbers and truth values become theirs."""
    if _is_empty(value):
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
    _check_characters(label, field)
    return label


def _check_characters(value: str, field: str) -> None:
    if "\0" in value:
        raise DataError(f"{field} holds a NUL character; remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{field} holds half a surrogate pair at character {error.start + 1}; remove it") from error


def _id(value: Any, where: str) -> str:
    if _is_empty(value):
        raise DataError(f"{where}: the id is empty; fill it in, or leave the column out")
    return str(value).strip()


def _check_ids(source: str, rows: Sequence[Row], placed: Sequence[Placed]) -> None:
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
    return None if _is_empty(value) else str(value).strip()


def _is_empty(value: Any) -> bool:
    """Tell whether nothing is there: None, NaN or blank text."""
    # Only NaN differs from itself; `math.isnan` would refuse what is no number.
    return value is None or value != value or (isinstance(value, str) and not value.strip())
