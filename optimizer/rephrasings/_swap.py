"""One rule that swaps words for others of the same meaning, where what stands around them allows it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Swap:
    """Words and what they are swapped for.

    Attributes
    ----------
    words : tuple of (str, str)
        Words or phrases in lower case, and what takes their place.
    before, after : str
        Regular expressions for what must stand right before and right after them.
    everywhere : bool
        Do nothing if one of the words also stands where it must not be swapped: one thing keeps one name.
    """

    words: tuple[tuple[str, str], ...]
    before: str = ""
    after: str = ""
    everywhere: bool = False

    def __call__(self, text: str) -> str:
        r"""Swap the words in a text, their case kept and a/an before them put right.

        >>> Swap((("text", "essay"),), before=r"\b(?:a|the) ")("The text. A text.")
        'The essay. An essay.'
        """
        anywhere, in_place = _patterns(self)
        if self.everywhere and len(anywhere.findall(text)) != len(in_place.findall(text)):
            return text
        return in_place.sub(self._swapped, text)

    def brings(self, protected: Sequence[str]) -> bool:
        """Tell whether a word that is protected (a label) would come into a text that does not hold it."""
        return any(holds(new, word) for _, new in self.words for word in protected)

    def _swapped(self, match: re.Match[str]) -> str:
        word = match["word"]
        before = match["before"]
        new = dict(self.words).get(word.casefold().replace("’", "'"), word)
        article = "an " if new[0] in "aeiou" else "a "
        before = re.sub(r"\b(a)n? $", lambda old: old[1] + article[1:], before, flags=re.IGNORECASE)
        return before + cased_like(word, new)


def cased_like(word: str, new: str) -> str:
    if len(word) > 1 and word.isupper():
        return new.upper()
    return new[0].upper() + new[1:] if word[0].isupper() else new


def holds(text: str, word: str) -> bool:
    """Tell whether a text holds a word or a phrase, in any case."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


@lru_cache(maxsize=256)
def _patterns(swap: Swap) -> tuple[re.Pattern[str], re.Pattern[str]]:
    longest_first = sorted((word for word, _ in swap.words), key=len, reverse=True)
    words = rf"\b(?P<word>{'|'.join(re.escape(word) for word in longest_first)})\b".replace("'", "['’]")
    in_place = rf"(?P<before>{swap.before}){words}(?={swap.after})"
    return re.compile(words, re.IGNORECASE), re.compile(in_place, re.IGNORECASE)
