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
    for column in (text, label):
        if column is not None and column not in names:
            raise DataError(f"{source}: has no column {column!r}{nearest(column, names)}; its columns: {listed(names)}")
    text_column = text or _customary([name for name in names if name != label], TEXT_NAMES)
    if text_column is None:
        raise missing_column(source, names, "text")
    label_column = label or _customary([name for name in names if name != text_column], LABEL_NAMES)
    if text_column == label_column:
        raise DataError(f"{source}: column {text_column!r} can't hold both the texts and the labels")
    others = {name: name for name in names if name not in (text_column, label_column)}
    return Columns(text_column, label_column, others.get("id"), others.get("split"), others.get("subclass"))


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
