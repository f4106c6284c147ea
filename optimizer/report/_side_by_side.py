"""Two prompts in two columns: what stays, what goes, and what stands in its place."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

from psopt.text import line_changes

_CONTEXT = 2  # lines that stay, shown before and after what changes


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A row of both columns."""

    # The lines; None where a column has none beside the other's
    old: str | None
    new: str | None
    is_changed: bool
    n_hidden: int = 0  # how many lines that stay this row stands for; it has no text then


def side_by_side(old: str, new: str) -> list[DiffRow]:
    r"""Put two texts beside each other, line by line; of what stays only the lines next to changes are shown.

    >>> for row in side_by_side("Sort it.\nA\nB", "Sort it.\nA is first.\nB"):
    ...     print(row.old, "|", row.new)
    Sort it. | Sort it.
    A | A is first.
    B | B
    """
    old_lines, new_lines = old.splitlines(), new.splitlines()
    rows: list[DiffRow] = []
    changes = line_changes(old_lines, new_lines)
    for number, (kind, old_start, old_end, new_start, new_end) in enumerate(changes):
        if kind == "equal":
            is_first, is_last = number == 0, number == len(changes) - 1
            rows += _kept(old_lines[old_start:old_end], is_first=is_first, is_last=is_last)
            continue
        pairs = zip_longest(old_lines[old_start:old_end], new_lines[new_start:new_end])
        rows += [DiffRow(ours, theirs, is_changed=True) for ours, theirs in pairs]
    return rows


def _kept(lines: list[str], *, is_first: bool, is_last: bool) -> list[DiffRow]:
    """Lines that stay: those next to a change, and a row for the others between them."""
    before = 0 if is_first else _CONTEXT
    after = 0 if is_last else _CONTEXT
    n_hidden = len(lines) - before - after
    if n_hidden <= 1:  # a row that says so would take as much room
        return [DiffRow(line, line, is_changed=False) for line in lines]
    head, tail = lines[:before], lines[len(lines) - after :]
    hidden = DiffRow(None, None, is_changed=False, n_hidden=n_hidden)
    return [
        *(DiffRow(line, line, is_changed=False) for line in head),
        hidden,
        *(DiffRow(line, line, is_changed=False) for line in tail),
    ]
