"""What changed between two texts, line by line, and where one only adds to the other nothing but additions."""

from __future__ import annotations

import difflib
from itertools import groupby
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    Kind = Literal["replace", "delete", "insert", "equal"]
    Change = tuple[Kind, int, int, int, int]
    """As of `difflib`: ``equal``, ``insert``, ``delete`` or ``replace``, and where in the old and the new lines."""


class _LineMatcher(difflib.SequenceMatcher[str]):
    """difflib's matcher, which does not look for the fewest changes: it may delete and add again what has stayed."""

    a: Sequence[str]
    b: Sequence[str]

    def get_opcodes(self) -> list[Change]:
        """Return what difflib finds, or additions alone where these are enough."""
        changes = super().get_opcodes()
        if all(kind in {"equal", "insert"} for kind, *_ in changes):
            return changes
        places = _places(self.a, self.b)
        return changes if places is None else _insertions(places, len(self.b))


def line_changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """Return how new lines come about from old ones.

    Where the old lines stand among the new ones in their order, nothing is deleted or replaced.

    >>> line_changes(["a", "b"], ["a", "x", "b"])
    [('equal', 0, 1, 0, 1), ('insert', 1, 1, 1, 2), ('equal', 1, 2, 2, 3)]
    """
    return _LineMatcher(None, old, new, autojunk=False).get_opcodes()


def unified_diff(old: str, new: str, old_name: str, new_name: str, context: int = 3) -> str:
    r"""Return what changed as a unified diff; empty where nothing did.

    >>> print(unified_diff("Sort it.\n", "Sort it.\nNote: now.\n", "prompt.txt", "1a2b"), end="")
    --- prompt.txt
    +++ 1a2b
    @@ -1 +1,2 @@
     Sort it.
    +Note: now.
    """
    old_lines, new_lines = _lines(old), _lines(new)
    matcher = _LineMatcher(None, old_lines, new_lines, autojunk=False)
    hunks = [_hunk(old_lines, new_lines, group) for group in matcher.get_grouped_opcodes(context)]
    return "".join([f"--- {old_name}\n+++ {new_name}\n", *hunks]) if hunks else ""


def _hunk(old: Sequence[str], new: Sequence[str], group: Sequence[tuple[str, int, int, int, int]]) -> str:
    first, last = group[0], group[-1]
    hunk = [f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"]
    for kind, old_start, old_end, new_start, new_end in group:
        if kind == "equal":
            hunk += [f" {line}" for line in old[old_start:old_end]]
            continue
        hunk += [f"-{line}" for line in old[old_start:old_end]]
        hunk += [f"+{line}" for line in new[new_start:new_end]]
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in hunk)


def _range(start: int, end: int) -> str:
    """Lines as a unified diff counts them: from 1, an empty range from the line before it."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _lines(text: str) -> list[str]:
    """Lines with their ends; line feeds alone end them, as for diff and patch."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _places(old: Sequence[str], new: Sequence[str]) -> list[int] | None:
    """Where each old line stands among the new ones, in their order; None where one does not."""
    places = []
    place = -1
    for line in old:
        place = next((index for index in range(place + 1, len(new)) if new[index] == line), -1)
        if place < 0:
            return None
        places.append(place)
    return places


def _insertions(places: Sequence[int], n_new: int) -> list[Change]:
    """The changes by which old lines come to these places among the new ones."""
    changes: list[Change] = []
    kept = set(places)
    old = new = 0
    for is_kept, stretch in groupby(range(n_new), key=kept.__contains__):
        n = len(list(stretch))
        changes.append(("equal" if is_kept else "insert", old, old + n * is_kept, new, new + n))
        old += n * is_kept
        new += n
    return changes
