"""From a table's columns and cells to the text that a prompt shows, and to the fields that it may name.

One message reports everything that is wrong with the rows, kind by kind, so that a file can be fixed in one go.
"""

from __future__ import annotations

import itertools
import json
import math
import reprlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from psopt.errors import DataError, InputError, nearest
from psopt.tasks._row import Record, Row
from psopt.text import shortened_list

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TEXT_NAMES = ("text", "question", "sentence", "content", "review", "body", "message", "input")
LABEL_NAMES = ("label", "class", "category", "target", "intent", "sentiment")


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """The columns that the caller names; any others are found by customary names."""

    inputs: tuple[str, ...] = ()  # the columns that a prompt is shown
    label: str | None = None
    # The short form for one input. To guard against a wrong column, it must hold texts, not numbers.
    text: str | None = None
    pinned: str | None = None  # the column that says which samples must stay right

    def __post_init__(self) -> None:
        """Refuse a choice that contradicts itself, or names a column by anything but a text."""
        for column in (*self.inputs, self.text, self.label, self.pinned):
            if column is not None and not isinstance(column, str):
                raise InputError(f"columns are named by texts, not by {column!r}; rename the column")
        if self.inputs and self.text is not None:
            raise InputError(f"inputs are {listed(self.inputs)}, and the text column {self.text!r}: name one or other")
        for name in self.inputs:
            if self.inputs.count(name) > 1:
                raise InputError(f"column {name!r} stands twice among the inputs; leave one out")


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column holds what; None if there is no such column."""

    inputs: tuple[str, ...]  # the columns that a prompt is shown
    label: str | None
    id: str | None
    split: str | None
    subclass: str | None
    others: tuple[str, ...] = ()  # further columns that a prompt may name
    pinned: str | None = None
    only_texts: bool = False  # whether a number in the input is a fault: nobody has named the inputs


def find_columns(source: str, names: Sequence[str], choice: ColumnChoice, *, option: str = "--text-column") -> Columns:
    """Find the input and label columns by the given or else by customary names; the others by their fixed names.

    Upper and lower case don't matter, unless two columns differ only in it: then the one in lower case is taken.
    Messages name `source`, and the `option` that sets the column of texts. If no name fits, `label` is None.
    """
    if not names:
        raise DataError(f"{source}: no column has a text for its name; name two, such as 'text' and 'label'")
    for column in (*choice.inputs, choice.text, choice.label, choice.pinned):
        if column is not None and column not in names:
            raise DataError(f"{source}: has no column {column!r}{nearest(column, names)}; its columns: {listed(names)}")
    text = choice.text or customary([name for name in names if name != choice.label], TEXT_NAMES)
    if not choice.inputs and text is None:
        raise missing_column(source, names, "text", option)
    inputs = choice.inputs or (str(text),)
    label = choice.label or customary([name for name in names if name not in inputs], LABEL_NAMES)
    if label in inputs:
        why = "a prompt that shows it tells the answer"
        raise DataError(f"{source}: column {label!r} can't hold both an input and the labels: {why}")
    free = [name for name in names if name not in (*inputs, label)]
    sample_id, split, subclass = (customary(free, (role,)) for role in ("id", "split", "subclass"))
    pinned = choice.pinned or customary(free, ("pinned",))
    if pinned is not None and pinned in (*inputs, label):
        raise DataError(f"{source}: column {pinned!r} can't say both what is pinned and what is shown or right")
    if len(inputs) > 1:  # shown next to other columns, an id still tells the rows apart
        sample_id = customary(inputs, ("id",)) or sample_id
    others = tuple(name for name in free if name not in (split, subclass, pinned))
    return Columns(inputs, label, sample_id, split, subclass, others, pinned, only_texts=not choice.inputs)


def missing_column(source: str, names: Sequence[str], kind: str, option: str) -> DataError:
    """The error for a missing column of texts or labels."""
    return DataError(f"{source}: which column holds the {kind}s? Say {option} NAME; its columns: {listed(names)}")


def as_names(names: str | Iterable[str], role: str = "inputs") -> tuple[str, ...]:
    """Names of columns or labels, or a single one; the InputError for one that is no text calls them by their role."""
    names = (names,) if isinstance(names, str) or not isinstance(names, Iterable) else tuple(names)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{role}: {name!r} is no text; write {str(name)!r}")
    return names


def listed(names: Sequence[str]) -> str:
    """Column names in the form that messages show."""
    return ", ".join(repr(name) for name in names)


def customary(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    """The column that has one of the wanted names, the first if there are several; None if there is none."""
    by_lower = {name.strip().lower(): name for name in reversed(names)} | {name: name for name in names}
    return next((by_lower[name] for name in wanted if name in by_lower), None)


T = TypeVar("T")

_MOST_NAMED = 10  # rows that a message names for each kind of fault
# Guards against a wrong column or a broken quote, not measured: no text to classify is a book.
LONGEST_TEXT = 100_000
OR_SKIP = ", or leave such rows out with --skip-empty"
"""What messages on empty cells add, where rows with empty cells may be left out."""


class RowError(Exception):
    """What is wrong with a row, and how to fix it; `kind` says what is wrong without the row's own value."""

    def __init__(self, fault: str, fix: str, kind: str = "") -> None:
        super().__init__(f"{fault}; {fix}")
        self.fault = fault
        self.fix = fix
        self.kind = kind or fault


def plain_rows(rows: Sequence[Record]) -> list[Record]:
    """Rows whose cells are `plain`."""
    return [Record(row.where, {name: plain(value) for name, value in row.values.items()}) for row in rows]


def plain(value: Any) -> Any:
    """A cell as Python has it: NumPy's values, and whole numbers of which pandas makes floats beside empty cells."""
    if getattr(getattr(value, "dtype", None), "kind", "M") not in "mM":  # NumPy would count dates in nanoseconds
        value = value.tolist()
    if isinstance(value, (float, Decimal)) and math.isfinite(value) and value == int(value):
        return int(value)
    return value


def of_each_row(source: str, rows: Sequence[Record], read: Callable[[int, Record], T]) -> list[T]:
    """Read every row with `read`, which takes its index and the row; raise DataError that tells all that is wrong."""
    results = []
    faults: dict[str, list[tuple[str, RowError]]] = {}
    for index, row in enumerate(rows):
        try:
            results.append(read(index, row))
        except RowError as fault:
            faults.setdefault(fault.kind, []).append((row.where, fault))
    if not faults:
        return results
    told = " | ".join(map(_told, faults.values()))
    is_one = sum(map(len, faults.values())) == 1
    raise DataError(f"{source}, {told}" if is_one else f"{source}: {told}")


def _told(faults: Sequence[tuple[str, RowError]]) -> str:
    where, first = faults[0]
    if len(faults) == 1:
        return f"{where}: {first}"
    line = f"{first.kind} in {len(faults):,} rows: {shortened_list([place for place, _ in faults], _MOST_NAMED)}"
    if first.fault != first.kind:
        line += f" (the first: {first.fault})"
    return f"{line}; {first.fix}"


def text_of(values: Mapping[str, Any], columns: Columns, or_skip: str = "") -> str:
    """The text of a row: a plain string if ``text`` is the only column, otherwise a `Row` with its fields.

    A number or a truth value is taken as written, except in a text column. In columns that are not inputs, cells that
    no prompt can show do not become fields. Messages on empty rows end with `or_skip`.
    """
    inputs = {name: _input(values, name, columns, or_skip) for name in columns.inputs}
    if not any(value.strip() for value in inputs.values()):
        names = " and ".join(repr(name) for name in columns.inputs)
        raise RowError(f"the inputs {names} are all empty", f"fill one in or remove the row{or_skip}")
    fields = {}
    for name, value in values.items():
        if name in inputs:
            fields[name] = inputs[name]
        elif name in columns.others and (shown := _shown(value)) is not None:
            fields[name] = shown
    if list(fields) == ["text"]:
        return inputs["text"]
    return Row.of(fields, columns.inputs)


def _input(values: Mapping[str, Any], name: str, columns: Columns, or_skip: str) -> str:
    cell = f"the input (column {name!r})"
    if columns.only_texts:
        cell = f"the text (column {name!r})"
    elif name not in values:
        raise RowError(f"{cell} is missing", "add the column to the row or remove the row")
    value = values.get(name)
    if is_empty(value):
        if len(columns.inputs) > 1:
            return ""
        raise RowError(f"{cell} is empty", f"fill it in or remove the row{or_skip}")
    written = _written(value)
    if written is None or (columns.only_texts and not isinstance(value, str)):
        fault = f"{cell} is {reprlib.repr(value)}, not text"
        raise RowError(fault, "name another column or put it in quotes", f"{cell} is no text")
    check_text(written, cell)
    return written


def _written(value: Any) -> str | None:
    """A cell as text; None for lists, bytes and the like, which are not texts."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, list, tuple, dict, set)):
        return None
    return str(value)


def _shown(value: Any) -> str | None:
    """A cell that a prompt may name; None where it can't be shown."""
    if is_empty(value):
        return ""
    try:
        shown = _written(value) or json.dumps(value, ensure_ascii=False)
        check_text(shown, "")
    except (TypeError, ValueError, RowError):
        return None
    return shown


def check_text(value: str, cell: str, most: int = LONGEST_TEXT) -> None:
    """Raise RowError if a text is too long, or contains what no request can carry; `cell` says which cell it is."""
    if len(value) > most:
        fault = f"{cell} has {len(value):,} characters; at most {most:,} are taken"
        fix = "is it the right column? Else shorten it or remove the row"
        raise RowError(fault, fix, f"{cell} has too many characters")
    if "\0" in value:
        raise RowError(f"{cell} holds a NUL character", "remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        kind = f"{cell} holds half a surrogate pair"
        raise RowError(f"{kind} at character {error.start + 1}", "remove it", kind) from error


def is_empty(value: Any) -> bool:
    """Tell whether a cell is empty: None, NaN, or a text of white space and zero-width signs."""
    if isinstance(value, str):
        return all(sign.isspace() or unicodedata.category(sign) == "Cf" for sign in value)
    if value is None:
        return True
    try:
        # Only NaN differs from itself; `math.isnan` would refuse anything that is not a number.
        return bool(value != value)
    except TypeError:  # pandas' NA, which is neither equal nor unequal
        return True
    except ValueError:  # an array compares item by item
        return False


def column_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of a table, in the order in which they first appear in its rows."""
    return [name for name in dict.fromkeys(itertools.chain.from_iterable(rows)) if isinstance(name, str)]
