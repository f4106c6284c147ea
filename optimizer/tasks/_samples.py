"""From rows to samples: errors name the place of every faulty value."""

from __future__ import annotations

import math
import re
import reprlib
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.errors import DataError
from psopt.tasks._answer_spec import LABELS, ORDINAL
from psopt.tasks._cells import (
    LABEL_NAMES,
    OR_SKIP,
    TEXT_NAMES,
    RowError,
    check_text,
    column_names,
    customary,
    find_columns,
    is_empty,
    listed,
    missing_column,
    of_each_row,
    plain_rows,
    text_of,
)
from psopt.tasks._references import reference_in
from psopt.tasks._row import Sample
from psopt.text import shortened_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.tasks._cells import Columns
    from psopt.tasks._row import Record
    from psopt.tasks._taskfile import TaskFile

# Guards against a wrong column or a broken quote, not measured: no class name is a page.
LONGEST_LABEL = 200
_MOST_NAMED = 5  # columns in one line
_WHOLE_NUMBER = re.compile(r"[+-]?\d+(?:\.0+)?")
# The split that each customary name means
SPLIT_NAMES = {"train": "train", "training": "train", "test": "test", "val": "val", "valid": "val"}
SPLIT_NAMES |= {"validation": "val", "dev": "val"}
_PINNED = dict.fromkeys(("true", "1", "yes", "y", "x"), True) | dict.fromkeys(("false", "0", "no", "n"), False)


class Placed(NamedTuple):
    """A sample, and the split that the data put it in: train, val, test, or None if they don't say."""

    sample: Sample
    split: str | None = None


class Table(NamedTuple):
    """The samples of a table, the column that holds their labels (empty if there is none), and what the user is told.

    The notes say which columns were taken where nobody has named any, and how many rows were left out.
    """

    placed: list[Placed]
    label_column: str
    notes: list[str]


def make_samples(source: str, rows: Sequence[Record], described: TaskFile, *, require_labels: bool) -> Table:
    """Make a sample from each row, read as a task file says. Without an id column, ids are the rows' numbers, from 1.

    If labels aren't required, data without a label column, or with an empty one, give unlabelled samples. If rows
    without a text or a label are left out (but a set of labels may be empty), the numbers of the others stay.
    """
    choice, spec = described.columns, described.spec
    rows = plain_rows(rows)
    names = column_names([row.values for row in rows])
    columns = find_columns(source, names, choice)
    label_column = columns.label or ""
    notes = []
    if not label_column and require_labels:
        if shown := customary(columns.inputs, LABEL_NAMES):  # a prompt shows it, which is refused
            find_columns(source, names, replace(choice, label=shown))
        raise missing_column(source, names, "label", "--label-column")
    if not require_labels and all(is_empty(row.values.get(label_column)) for row in rows):
        columns = replace(columns, label=None)
    if columns.label and not choice.label and (named := _names_beside(rows, columns)):
        notes.append(f"the labels are those of column {named!r}, which names the codes of {columns.label!r}")
        others = tuple(name for name in columns.others if name != named)
        columns, label_column = replace(columns, label=named, others=others), named
    hidden = [repr(name) for name in columns.others if name != columns.id]
    is_named = choice.inputs or choice.text or columns.inputs[0].lower() == TEXT_NAMES[0]
    if hidden and not is_named:
        others_shown = f"--input shows others too: {shortened_list(hidden, _MOST_NAMED)}"
        notes.append(f"the texts are those of column {columns.inputs[0]!r}; {others_shown}")
    numbered = list(enumerate(rows, start=1))
    required: dict[str, Sequence[str]] = {"text": columns.inputs}
    if columns.label and spec.kind != LABELS:  # with several labels, an empty cell means that there is none
        required["label"] = [columns.label]
    for role, of_role in required.items() if described.skip_empty else ():
        filled = [(number, row) for number, row in numbered if not all(map(is_empty, map(row.values.get, of_role)))]
        if not filled:
            raise DataError(f"{source}: no row has a {role} (column {listed(of_role)}); name another column")
        if n_empty := len(numbered) - len(filled):
            are = f"row without a {role} is" if n_empty == 1 else f"rows without a {role} are"
            notes.append(f"{n_empty:,} {are} left out")
        numbered = filled
    return Table(_all_placed(source, numbered, columns, described), label_column, notes)


def _names_beside(rows: Sequence[Record], columns: Columns) -> str | None:
    """The column with the names of codes: called like the label column, with one name for each whole number."""
    coded = columns.label or ""
    pairs = [(row.values[coded], row.values) for row in rows if not is_empty(row.values.get(coded))]
    if not pairs or not all(_WHOLE_NUMBER.fullmatch(str(code)) for code, _ in pairs):
        return None
    for name in columns.others:
        if re.fullmatch(rf"{re.escape(coded)}[ _-]?(?:text|name|title|str|string)s?", name, re.IGNORECASE):
            both = {(str(code), str(values.get(name) or "").strip()) for code, values in pairs}
            codes, texts = {code for code, _ in both}, {text for _, text in both}
            if len(both) == len(codes) == len(texts) and "" not in texts:
                return name
    return None


def _all_placed(
    source: str, numbered: Sequence[tuple[int, Record]], columns: Columns, described: TaskFile
) -> list[Placed]:
    """Make a sample from each row; the numbers are those of the rows in the data."""
    rows = [row for _, row in numbered]
    is_open = described.spec.is_open
    if is_open and all(is_empty(row.values.get(columns.label or "")) for row in rows):
        columns = replace(columns, label=None)
    places: dict[str, str] = {}

    def place(index: int, row: Record) -> Placed:
        values = row.values
        sample_id, label, split = str(numbered[index][0]), None, None
        if columns.id:
            sample_id = str(values.get(columns.id)).strip()
            if is_empty(values.get(columns.id)):
                raise RowError("the id is empty", "fill it in, or leave the column out")
        text = text_of(values, columns, OR_SKIP)
        pinned = columns.pinned is not None and _pinned(values.get(columns.pinned), columns.pinned)
        if columns.split:
            split = _split(values.get(columns.split))
        if columns.label:
            read_label = reference_in if is_open else _label
            label = read_label(values.get(columns.label), columns.label, described)
        if sample_id in places:
            fault = f"id {sample_id!r} is that of {places[sample_id]} too"
            raise RowError(fault, "ids must differ", "the id is that of another row too")
        places[sample_id] = row.where
        subclass = values.get(columns.subclass) if columns.subclass else None
        subclass = None if is_empty(subclass) else str(subclass).strip()
        return Placed(Sample(sample_id, text, label, subclass, pinned), split)

    return of_each_row(source, rows, place)


def _label(value: Any, column: str, described: TaskFile) -> str:
    """A label as text; whole numbers and truth values are converted, and on a scale all numbers."""
    cell = f"the label (column {column!r})"
    if is_empty(value):
        raise RowError(f"{cell} is empty", f"fill it in or remove the row{OR_SKIP}")
    is_on_scale = described.spec.kind == ORDINAL and isinstance(value, (float, Decimal)) and math.isfinite(value)
    if not is_on_scale and not isinstance(value, (str, int)):
        fault = f"{cell} is {reprlib.repr(value)}, not the name of a class"
        raise RowError(fault, "name another column", f"{cell} is not the name of a class")
    label = str(value).strip()
    check_text(label, cell, LONGEST_LABEL)
    if len(label.splitlines()) > 1:
        kind = f"{cell} holds a line break"
        raise RowError(f"{kind}: {label!r}", "write it on one line", kind)
    return label


def _split(value: Any) -> str:
    split = str(value).strip().lower()
    if split not in SPLIT_NAMES:
        fault = f"the split is {reprlib.repr(value)}"
        raise RowError(fault, "it must be train, val or test", "the split is none")
    return SPLIT_NAMES[split]


def _pinned(value: Any, column: str) -> bool:
    """Whether a cell says that its sample must stay right; an empty one means that it need not."""
    if is_empty(value):
        return False
    cell_text = str(value).strip().lower().removesuffix(".0")  # pandas' floats
    if cell_text not in _PINNED:
        kind = f"the column {column!r} says neither yes nor no"
        fix = "it must be true or false (1, 0, yes, no); rename the column if it is about something else"
        raise RowError(f"{kind}: {reprlib.repr(value)}", fix, kind)
    return _PINNED[cell_text]
