"""Sentences in lines that a terminal holds."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH = 80
"""Columns that every terminal has."""


def wrapped(sentences: Iterable[str], width: int = WIDTH, indent: str = "") -> list[str]:
    """Break sentences between words, so that no line is wider; what goes on is set in by two more.

    >>> wrapped(["one two three"], width=8)
    ['one two', '  three']
    """
    return [
        line
        for sentence in sentences
        for line in textwrap.wrap(
            sentence,
            width,
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]
