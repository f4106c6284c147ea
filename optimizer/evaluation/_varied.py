"""What differs between the answers to one sample: the wording, the text, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.settings import TEXT_FAMILIES, UNCHANGED

if TYPE_CHECKING:
    from collections.abc import Iterable

OF_TEXTS = frozenset({*TEXT_FAMILIES, UNCHANGED})


def what_varies(families: Iterable[str]) -> str:
    """Say what differs between the columns of a grid, which are of these families.

    >>> what_varies(["paraphrase"]), what_varies(["unchanged", "typos"]), what_varies(["format", "unchanged", "typos"])
    ('wordings', 'changed texts', 'wordings and changed texts')
    """
    found = set(families)
    texts = found & OF_TEXTS
    return " and ".join(["wordings"] * (found != texts or not found) + ["changed texts"] * bool(texts))
