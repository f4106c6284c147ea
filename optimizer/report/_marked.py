"""A prompt beside the seed prompt: which of its lines were added."""

from __future__ import annotations

import difflib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a prompt."""

    text: str
    added: bool


def marked(prompt: str, seed_prompt: str) -> list[Line]:
    r"""Mark the lines of a prompt that the seed prompt doesn't have.

    >>> [line.added for line in marked("Sort it.\nA is first.", "Sort it.")]
    [False, True]
    """
    old = seed_prompt.splitlines()
    new = prompt.splitlines()
    lines = []
    for change, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        lines += [Line(text, change != "equal") for text in new[start:end]]
    return lines
