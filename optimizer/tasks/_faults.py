"""What is wrong with rows: all of it in one message, kind by kind, so that a file is fixed at one go."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from psopt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.tasks._formats import Record

T = TypeVar("T")

_MOST_NAMED = 10  # rows that a message names, of each kind of fault


class RowError(DataError):
    """One row that can't be used: where it stands in the data, what is wrong, with its own value, and how to fix it.

    `kind` is what is wrong in the words that all rows of this fault share.
    """

    def __init__(self, where: str, fault: str, fix: str, kind: str | None = None) -> None:
        super().__init__(f"{where}: {fault}; {fix}")
        self.fault = fault
        self.fix = fix
        self.kind = fault if kind is None else kind


def of_each_row(source: str, rows: Sequence[Record], read: Callable[[int, Record], T]) -> list[T]:
    """Read every row with `read`, which takes its index and the row.

    Raises DataError if `read` finds faults: each kind of them once, with its rows, of which the first ten are named.
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
    found = list(faults.values())
    if len(found) == 1 and len(found[0]) == 1:
        raise found[0][0][1]
    raise DataError(f"{source}: " + " | ".join(map(_told, found)))


def _told(found: Sequence[tuple[Record, RowError]]) -> str:
    """Tell one kind of fault, the rows that show it, and how to fix them."""
    row, first = found[0]
    if len(found) == 1:
        return f"{row.where}: {first.fault}; {first.fix}"
    places = ", ".join(row.where for row, _ in found[:_MOST_NAMED])
    others = f" and {len(found) - _MOST_NAMED:,} more" if len(found) > _MOST_NAMED else ""
    example = "" if first.fault == first.kind else f" (the first: {first.fault})"
    return f"{first.kind} in {len(found):,} rows: {places}{others}{example}; {first.fix}"
