"""What differs between the answers to one sample: the wording, the text, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.settings import TEXT_FAMILIES, UNCHANGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OF_TEXTS = frozenset({*TEXT_FAMILIES, UNCHANGED})


def what_varies(families: Iterable[str]) -> str:
    """Say what differs between the columns of a grid, which are of these families.

    >>> what_varies(["paraphrase"]), what_varies(["unchanged", "typos"]), what_varies(["format", "unchanged", "typos"])
    ('wordings', 'changed texts', 'wordings and changed texts')
    """
    found = set(families)
    texts = found & OF_TEXTS
    return " and ".join(["wordings"] * (found != texts or not found) + ["changed texts"] * bool(texts))


def column_names(rephrasings: Sequence[str], families: Sequence[str]) -> list[str]:
    """What each column of a grid is of: its rephrasing, or what is changed of the texts.

    >>> column_names(["Sort it.", "Sort it."], ["unchanged", "typos"])
    ['[unchanged] Sort it.', '[typos] Sort it.']
    """
    named = zip(rephrasings, families or [""] * len(rephrasings), strict=True)
    return [f"[{family}] {text}" if family in OF_TEXTS else text for text, family in named]
