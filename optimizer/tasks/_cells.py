"""From the cells of a row to the text that a prompt shows, and to the fields that it may name.

One message reports everything that is wrong with the rows, kind by kind, so that a file can be fixed in one go.
"""

from __future__ import annotations

import json
import reprlib
from typing import TYPE_CHECKING, Any, TypeVar

from psopt.errors import DataError
from psopt.tasks._row import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psopt.tasks._columns import Columns
    from psopt.tasks._formats import Record

T = TypeVar("T")

_MOST_NAMED = 10  # rows that a message names for each kind of fault
# Guards against a wrong column or a broken quote, not measured: no text to classify is a book.
LONGEST_TEXT = 100_000
OR_SKIP = ", or leave such rows out with --skip-empty (skip_empty=True)"
"""What messages on empty cells add, where rows with empty cells may be left out."""


class RowError(DataError):
    """One row that can't be used: where it stands in the data, what is wrong (with its value), and how to fix it.

    `kind` is what is wrong in words that all rows with this fault share.
    """

    def __init__(self, where: str, fault: str, fix: str, kind: str | None = None) -> None:
        super().__init__(f"{where}: {fault}; {fix}")
        self.fault = fault
        self.fix = fix
        self.kind = fault if kind is None else kind


def of_each_row(source: str, rows: Sequence[Record], read: Callable[[int, Record], T]) -> list[T]:
    """Read every row with `read`, which takes its index and the row.

    Raises DataError if `read` finds faults: it lists each kind once, and names the first ten of its rows.
    """
    results = []
    faults: dict[str, list[tuple[Record, RowError]]] = {}
    for index, row in enumerate(rows):
        try:
            results.append(read(index, row))
        except RowError as fault:
            faults.setdefault(fault.kind, []).append((row, fault))
    if not faults:
        return results
    fault_groups = list(faults.values())
    if len(fault_groups) == 1 and len(fault_groups[0]) == 1:
        raise fault_groups[0][0][1]
    raise DataError(f"{source}: " + " | ".join(map(_told, fault_groups)))


def _told(faults: Sequence[tuple[Record, RowError]]) -> str:
    """Describe one kind of fault, the rows that have it, and how to fix them."""
    row, first = faults[0]
    if len(faults) == 1:
        return f"{row.where}: {first.fault}; {first.fix}"
    places = ", ".join(row.where for row, _ in faults[:_MOST_NAMED])
    others = f" and {len(faults) - _MOST_NAMED:,} more" if len(faults) > _MOST_NAMED else ""
    example = "" if first.fault == first.kind else f" (the first: {first.fault})"
    return f"{first.kind} in {len(faults):,} rows: {places}{others}{example}; {first.fix}"


def text_of(
    where: str, values: Mapping[str, Any], columns: Columns, *, only_texts: bool, may_skip: bool = False
) -> str:
    """The text of a row: a plain string if ``text`` is the only column, otherwise a `Row` with its fields.

    A cell may be empty if another input of its row is not. A number or a truth value is taken as written, unless
    `only_texts`. In columns that are not inputs, cells that no prompt can show do not become fields. If `may_skip`,
    messages on empty rows say how to leave them out.

    Raises RowError if an input is missing or can't be used, or if all are empty.
    """
    or_skip = OR_SKIP if may_skip else ""
    inputs = {name: _input(where, values, name, columns, or_skip, only_texts=only_texts) for name in columns.inputs}
    if not any(value.strip() for value in inputs.values()):
        names = " and ".join(repr(name) for name in columns.inputs)
        raise RowError(where, f"the inputs {names} are all empty", f"fill one in or remove the row{or_skip}")
    fields = {}
    for name, value in values.items():
        if name in inputs:
            fields[name] = inputs[name]
        elif name in columns.others and (shown := _shown(value)) is not None:
            fields[name] = shown
    return inputs["text"] if list(fields) == ["text"] else Row.of(fields, columns.inputs)


def _input(
    where: str, values: Mapping[str, Any], name: str, columns: Columns, or_skip: str, *, only_texts: bool
) -> str:
    cell = f"the {'text' if only_texts else 'input'} (column {name!r})"
    if name not in values and not only_texts:
        raise RowError(where, f"{cell} is missing", "add the column to the row or remove the row")
    value = values.get(name)
    if is_empty(value):
        if len(columns.inputs) > 1:
            return ""
        raise RowError(where, f"{cell} is empty", f"fill it in or remove the row{or_skip}")
    written = None if only_texts and not isinstance(value, str) else _written(value)
    if written is None:
        fault = f"{cell} is {reprlib.repr(value)}, not text"
        raise RowError(where, fault, "name another column or put it in quotes", f"{cell} is no text")
    if len(written) > LONGEST_TEXT:
        fault = f"{cell} has {len(written):,} characters; at most {LONGEST_TEXT:,} are taken"
        raise RowError(where, fault, "shorten it or remove the row", f"{cell} has too many characters")
    check_characters(written, where, cell)
    return written


def _written(value: Any) -> str | None:
    """A cell as text; None for lists, bytes and the like, which are not texts."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # pandas turns whole numbers into floats where some are missing
    return None if isinstance(value, (bytes, list, tuple, dict, set)) else str(value)


def _shown(value: Any) -> str | None:
    """A cell that a prompt may name; None where it can't be shown."""
    if is_empty(value):
        return ""
    shown = _written(value)
    if shown is None:
        try:
            shown = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError):
            return None
    return shown if len(shown) <= LONGEST_TEXT and _fault(shown) is None else None


def check_characters(value: str, where: str, cell: str) -> None:
    """Raise RowError if a text contains what no request can carry; `cell` says which cell of the row it is."""
    fault = _fault(value)
    if fault is not None:
        kind = fault.partition(" at character ")[0]
        raise RowError(where, f"{cell} holds {fault}", "remove it", f"{cell} holds {kind}")


def _fault(value: str) -> str | None:
    if "\0" in value:
        return "a NUL character"
    try:
        value.encode()
    except UnicodeEncodeError as error:
        return f"half a surrogate pair at character {error.start + 1}"
    return None


def is_empty(value: Any) -> bool:
    """Tell whether a cell is empty: None, NaN or blank text."""
    if value is None or (isinstance(value, str) and not value.strip()):
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
    return list(dict.fromkeys(name for row in rows for name in row if isinstance(name, str)))
