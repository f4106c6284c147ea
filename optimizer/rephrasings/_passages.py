"""A template's instructions taken apart: the passages that are put into other words, and what stays between them."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.rephrasings._protected import protected_ranges, sentence_ranges
from psopt.templates import PART_BREAK, split_description

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.search_spaces import Prompt

Span = tuple[int, int]

_STRUCTURE = re.compile(r"(?:[-*+•]|\d+[.)])\s|#{1,6}\s|\*\*[^*]+\*\*:?\Z|[A-Z][\w ]{0,30}:\Z")
"""Items of lists and headings: their layout says as much as their words."""


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages of a description, and what stands around them."""

    texts: tuple[str, ...]  # sentences that may be said otherwise, as they were written
    # What stands before the first, between them and after the last; one more than there are passages
    kept: tuple[str, ...]

    def joined(self, texts: Sequence[str]) -> str:
        """The description with other texts in the passages' places.

        >>> Passages(("Sort it.",), ("", " Answer as JSON.")).joined(["Please sort it."])
        'Please sort it. Answer as JSON.'
        """
        return self.kept[0] + "".join(text + after for text, after in zip(texts, self.kept[1:], strict=True))


def read_passages(description: str, labels: Sequence[str] = ()) -> Passages:
    r"""Find the passages of a template's description: sentences in a row, none of which is protected as a whole.

    >>> read_passages("You sort mail. Be exact.\n- bills\n\nPick a team. Answer as JSON.").texts
    ('You sort mail. Be exact.', 'Pick a team.')
    """
    spans: list[Span] = []
    offset = 0
    for part in split_description(description):
        spans += [(offset + start, offset + end) for start, end in _passages_of(part, labels)]
        offset += len(part) + len(PART_BREAK)
    edges = [0, *(edge for span in spans for edge in span), len(description)]
    kept = tuple(description[edges[place] : edges[place + 1]] for place in range(0, len(edges), 2))
    return Passages(tuple(description[start:end] for start, end in spans), kept)


def _passages_of(part: str, labels: Sequence[str]) -> list[Span]:
    """Runs of sentences that may be said otherwise."""
    protected = protected_ranges(part, labels)
    passages: list[Span] = []
    follows = False
    for start, end in sentence_ranges(part):
        is_kept = _is_kept(part, (start, end), protected)
        if follows and not is_kept:
            passages[-1] = (passages[-1][0], end)
        elif not is_kept:
            passages.append((start, end))
        follows = not is_kept
    return passages


def passages_of(prompt: Prompt | str) -> list[str]:
    """What of a prompt is rephrased, each by itself: of psopt's own form, or a bare description, the whole."""
    if isinstance(prompt, str):
        return [prompt]
    if prompt.template is None:
        return [prompt.description]
    return list(read_passages(prompt.description, prompt.labels).texts) or [prompt.description]


def in_step(choices: Sequence[Iterable[str]], originals: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Combine what there is of each passage: all go forward together, and who has fewer begins again.

    Once all have been seen together in that way, the others are moved on against the longest, so that every combination
    comes, and each once. A passage of which there is nothing else stays as it is. No more is drawn than is
    asked for.

    >>> list(in_step([["a", "b", "c"], ["x"], []], ["A", "X", "Q"]))
    [('a', 'x', 'Q'), ('b', 'x', 'Q'), ('c', 'x', 'Q')]
    """
    sources = [iter(texts) for texts in choices]
    drawn: list[list[str]] = [[] for _ in sources]
    for number in itertools.count():
        for texts, source in zip(drawn, sources, strict=True):
            texts += itertools.islice(source, 1)
        if all(len(texts) <= number for texts in drawn):
            break
        yield tuple(
            texts[number % len(texts)] if texts else original for texts, original in zip(drawn, originals, strict=True)
        )
    if any(drawn):
        yield from _moved_on([texts or [original] for texts, original in zip(drawn, originals, strict=True)])


def _moved_on(lists: Sequence[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """All combinations but those in which every list is at the same place."""
    longest = max(range(len(lists)), key=lambda place: len(lists[place]))
    shifts = [range(1) if place == longest else range(len(texts)) for place, texts in enumerate(lists)]
    for shift in itertools.islice(itertools.product(*shifts), 1, None):
        for number in range(len(lists[longest])):
            yield tuple(texts[(number + ahead) % len(texts)] for texts, ahead in zip(lists, shift, strict=True))


def protected_texts(text: str, labels: Sequence[str] = ()) -> list[str]:
    """What of a text every rephrasing must hold, as often as the text does."""
    return [text[start:end] for start, end in protected_ranges(text, labels)]


def _is_kept(part: str, sentence: Span, protected: Sequence[Span]) -> bool:
    start, end = sentence
    if _STRUCTURE.match(part[start:end]):
        return True
    first = max(0, bisect_left(protected, (start, 0)) - 1)
    for span in itertools.takewhile(lambda span: span[0] < end, protected[first:]):
        if re.search(r"\w", part[start : max(start, span[0])]):
            return False
        start = max(start, span[1])
    return re.search(r"\w", part[start:end]) is None
