"""Which column of a table holds what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import DataError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT_NAMES = ("text", "question", "sentence", "content", "review", "body", "message", "input")
LABEL_NAMES = ("label", "class", "category", "target", "intent", "sentiment")


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column holds what; None where there is none."""

    text: str
    label: str | None
    id: str | None
    split: str | None
    subclass: str | None


def find_columns(source: str, names: Sequence[str], text: str | None, label: str | None) -> Columns:
    """Find the text and label columns by the names given, else by customary ones; the others by their own.

    `source` is named in messages; `names` are the table's columns. Where no name fits, `label` is None.

    Raises
    ------
    DataError
        If a given column or the texts are missing; the message lists the columns that exist.
    """
    for given in (text, label):
        if given is not None and given not in names:
            raise DataError(f"{source}: has no column {given!r}{nearest(given, names)}; its columns: {listed(names)}")
    found_text = text or _customary([name for name in names if name != label], TEXT_NAMES)
    if found_text is None:
        raise missing_column(source, names, "text")
    found_label = label or _customary([name for name in names if name != found_text], LABEL_NAMES)
    if found_text == found_label:
        raise DataError(f"{source}: column {found_text!r} can't hold both the texts and the labels")
    rest = [name for name in names if name not in (found_text, found_label)]
    id_, split, subclass = (name if name in rest else None for name in ("id", "split", "subclass"))
    return Columns(found_text, found_label, id_, split, subclass)


def missing_column(source: str, names: Sequence[str], kind: str) -> DataError:
    """The error that says which columns there are instead of the one for texts or labels."""
    return DataError(
        f"{source}: which column holds the {kind}s? Say --{kind}-column NAME; its columns: {listed(names)}"
    )


def listed(names: Sequence[str]) -> str:
    """Column names as a message shows them."""
    return ", ".join(repr(name) for name in names)


def _customary(names: Sequence[str], customary: Sequence[str]) -> str | None:
    by_lower = {name.strip().lower(): name for name in reversed(names)}
    return next((by_lower[name] for name in customary if name in by_lower), None)
