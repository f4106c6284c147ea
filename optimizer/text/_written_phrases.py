"""Phrases as they are written: what one can quote from a text without changing a character but for case."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from psopt.text._phrases import phrases_of_words

if TYPE_CHECKING:
    from collections.abc import Iterator

# A tag begins with a letter, "/" or "!": "a < b" is none. What scripts and styles hold is no text.
_MARKUP = re.compile(r"<(script|style)\b.*?</\1\s*>|<[a-z/!][^<>]{0,500}>|&(?:#\w{1,8}|[a-z]{2,8});", re.I | re.S)
# Words joined by such a sign ("re-send", "don't", "a@b.c") are one; their parts are not written as words.
_WORD = re.compile(r"[^\W_]+(?:[’'_@./+&=#-]+[^\W_]+)*")
_PLAIN = re.compile(r"[^\W_]+")


def without_markup(text: str) -> str:
    r"""A text with a line break in the place of every tag and entity of HTML.

    >>> without_markup("Hello<br/>you &amp; all, 1 < 2")
    'Hello\nyou \n all, 1 < 2'
    """
    return _MARKUP.sub("\n", text) if "<" in text or "&" in text else text


def written_phrases(text: str) -> set[str]:
    """Return every phrase that stands in a text as it is written, but for case.

    Unlike `phrases_of` it joins no words over punctuation, tags or the ends of lines, and takes no word apart.

    >>> sorted(written_phrases("Re: don't<br>pay me"))
    ['^re', 'me', 'pay', 'pay me', 're']
    """
    begins_plainly = _MARKUP.match(text.lstrip()) is None
    phrases: set[str] = set()
    for words, opens in _runs(without_markup(text)):
        is_quotable = opens and begins_plainly
        phrases.update(phrase for phrase in phrases_of_words(words) if is_quotable or not phrase.startswith("^"))
    return phrases


def _runs(text: str) -> Iterator[tuple[list[str], bool]]:
    """Words between which nothing but spaces stands, and whether they open the text."""
    run: list[str] = []
    opens = True
    end = 0
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        is_plain = _PLAIN.fullmatch(match.group()) is not None and word == match.group().lower()
        if run and (not is_plain or text[end : match.start()].strip(" ")):
            yield run, opens
            run = []
            opens = False
        if is_plain:
            run.append(word)
        else:
            opens = False
        end = match.end()
    if run:
        yield run, opens
