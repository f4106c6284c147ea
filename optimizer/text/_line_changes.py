"""What changed between two texts, line by line."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    Kind = Literal["replace", "delete", "insert", "equal"]
    Change = tuple[Kind, int, int, int, int]
    """As of `difflib`: ``equal``, ``insert``, ``delete`` or ``replace``, and where in the old and the new lines."""


def line_changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """Return how new lines come about from old ones.

    >>> line_changes(["a", "b"], ["a", "x", "b"])
    [('equal', 0, 1, 0, 1), ('insert', 1, 1, 1, 2), ('equal', 1, 2, 2, 3)]
    """
    return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def unified_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    r"""Return what changed as a unified diff, as patch and git apply read it; empty where nothing did.

    >>> print(unified_diff("Sort it.\n", "Sort it.\nNote: now.\n", "prompt.txt", "1a2b"), end="")
    --- prompt.txt
    +++ 1a2b
    @@ -1 +1,2 @@
     Sort it.
    +Note: now.
    """
    diff = difflib.unified_diff(_lines(old), _lines(new), old_name, new_name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff)


def _lines(text: str) -> list[str]:
    """Lines with their ends; line feeds alone end them, as for diff and patch."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
