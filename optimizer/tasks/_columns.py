"""Which column of a table holds what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import DataError, InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def find_columns(source: str, names: Sequence[str], choice: ColumnChoice, *, option: str = "--text-column") -> Columns:
    """Find the input and label columns by the given or else by customary names; the others by their fixed names.

    Upper and lower case don't matter, unless two columns differ only in it: then the one in lower case is taken.
    Messages name `source`, and the `option` that sets the column of texts; `names` are the table's columns. If no name
    fits, `label` is None.
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
    return Columns(inputs, label, sample_id, split, subclass, others, pinned)


def missing_column(source: str, names: Sequence[str], kind: str, option: str) -> DataError:
    """The error for a missing column of texts or labels: it lists the columns that exist."""
    return DataError(f"{source}: which column holds the {kind}s? Say {option} NAME; its columns: {listed(names)}")


def as_names(names: str | Iterable[str], role: str = "inputs") -> tuple[str, ...]:
    """Names of columns or labels; a single one may be given as a plain string.

    Raises InputError if one is no text, and calls them by their role.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        names = (names,)
    names = tuple(names)
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
