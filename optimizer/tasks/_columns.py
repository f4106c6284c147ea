"""Which column of a table holds what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import DataError, InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
        """Refuse a choice that contradicts itself."""
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


def find_columns(source: str, names: Sequence[str], choice: ColumnChoice, *, option: str = "--text-column") -> Columns:
    """Find the input and label columns by the given or else by customary names; the others by their fixed names.

    Messages name `source`, and the `option` that sets the column of texts; `names` are the table's columns. If no name
    fits, `label` is None.
    """
    for column in (*choice.inputs, choice.text, choice.label, choice.pinned):
        if column is not None and column not in names:
            raise DataError(f"{source}: has no column {column!r}{nearest(column, names)}; its columns: {listed(names)}")
    text = choice.text or _customary([name for name in names if name != choice.label], TEXT_NAMES)
    if not choice.inputs and text is None:
        raise missing_column(source, names, "text", option)
    inputs = choice.inputs or (str(text),)
    label = choice.label or _customary([name for name in names if name not in inputs], LABEL_NAMES)
    if label in inputs:
        why = "a prompt that shows it tells the answer"
        raise DataError(f"{source}: column {label!r} can't hold both an input and the labels: {why}")
    free = [name for name in names if name not in (*inputs, label)]
    roles = {name: name for name in ("id", "split", "subclass", "pinned") if name in free}
    pinned = choice.pinned or roles.get("pinned")
    if pinned is not None and pinned in (*inputs, label):
        raise DataError(f"{source}: column {pinned!r} can't say both what is pinned and what is shown or right")
    if len(inputs) > 1 and "id" in inputs:
        roles["id"] = "id"  # shown next to other columns, it still tells the rows apart
    others = tuple(name for name in free if name not in ("split", "subclass", pinned))
    return Columns(inputs, label, roles.get("id"), roles.get("split"), roles.get("subclass"), others, pinned)


def missing_column(source: str, names: Sequence[str], kind: str, option: str) -> DataError:
    """The error for a missing column of texts or labels: it lists the columns that exist."""
    return DataError(f"{source}: which column holds the {kind}s? Say {option} NAME; its columns: {listed(names)}")


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Names of columns; a single one may be given as a plain string."""
    return (names,) if isinstance(names, str) else tuple(names)


def listed(names: Sequence[str]) -> str:
    """Column names in the form that messages show."""
    return ", ".join(repr(name) for name in names)


def _customary(names: Sequence[str], customary: Sequence[str]) -> str | None:
    by_lower = {name.strip().lower(): name for name in reversed(names)}
    return next((by_lower[name] for name in customary if name in by_lower), None)
