"""How much sequences have in common at their beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def common_length(sequences: Sequence[str] | Sequence[list[int]]) -> int:
    """Return the length of the longest beginning that all sequences share.

    What the first and the last in order share, all between them share too.

    >>> common_length([[1, 2, 3], [1, 2], [1, 2, 4]])
    2
    """
    first = min(sequences)
    last = max(sequences)
    shorter = min(len(first), len(last))
    return next((index for index in range(shorter) if first[index] != last[index]), shorter)
