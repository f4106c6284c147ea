"""From the cells of a row to the text that a prompt shows, and to the fields that it may name."""

from __future__ import annotations

import json
import reprlib
from typing import TYPE_CHECKING, Any

from psopt.tasks._faults import RowError
from psopt.tasks._row import Row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.tasks._columns import Columns

# Guards against a wrong column or a broken quote, not measured: no text to classify is a book.
LONGEST_TEXT = 100_000
OR_SKIP = ", or leave such rows out with --skip-empty (skip_empty=True)"
"""What messages on empty cells add, where rows with such may be left out."""


def text_of(
    where: str, values: Mapping[str, Any], columns: Columns, *, only_texts: bool, may_skip: bool = False
) -> str:
    """The text of a row: a plain string where the column ``text`` is all there is, else a `Row` with its fields.

    A cell may be empty where another input of its row is not. A number or a truth value is taken as it is written,
    unless `only_texts`; of the columns that are no inputs, cells that no prompt can show are no fields. If `may_skip`,
    messages on empty rows say how they are left out.

    Raises RowError if an input is missing, or can't be used, or all are empty.
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
    """A cell as it is written; None for lists, bytes and the like, which are no texts."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # pandas writes whole numbers so where some are missing
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
    """Raise RowError if a text holds what no request can carry; `cell` says which one of the row it is."""
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
    """Tell whether nothing is there: None, NaN or blank text."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        # Only NaN differs from itself; `math.isnan` would refuse what is no number.
        return bool(value != value)
    except TypeError:  # pandas' NA, which is neither equal nor unequal
        return True
    except ValueError:  # an array compares item by item
        return False


def column_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns of a table, in the order in which its rows show them."""
    return list(dict.fromkeys(name for row in rows for name in row if isinstance(name, str)))
