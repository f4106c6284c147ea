"""A prompt in stretches, to be shown before anything is asked: what is rephrased, and what is kept."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from psopt.rephrasings._passages import read_passages
from psopt.rephrasings._protected import protected_ranges
from psopt.search_spaces import render
from psopt.templates import Segment, segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psopt.search_spaces import Prompt
    from psopt.templates import Stretch

_SAMPLE = "\ue000"
"""Stands for the text to classify, while psopt's own form is taken apart."""


def shown_segments(prompt: Prompt) -> list[Segment]:
    """Return a prompt in stretches, in its order: its messages, with fields and places for edits open."""
    if prompt.template is None:
        return _own_form(prompt)
    return segments(prompt.template, prompt.description, partial(_split, prompt.labels))


def marked_text(stretches: Sequence[Segment]) -> str:
    """Write stretches as a text without colours: what is rephrased stands between marks.

    >>> print(marked_text([Segment(0, "user", "Sort ", "rephrased", 0), Segment(0, "user", "{body}", "field", 0)]))
    <rephrase>Sort {body}</rephrase>
    """
    pieces = []
    passage = None
    for stretch in stretches:
        if stretch.passage != passage:
            pieces.append("" if passage is None else "</rephrase>")
            pieces.append("" if stretch.passage is None else "<rephrase>")
            passage = stretch.passage
        pieces.append(stretch.text)
    pieces.append("" if passage is None else "</rephrase>")
    return "".join(pieces)


def _split(labels: Sequence[str], part: str) -> Iterator[Stretch]:
    """A part's passages, without what is protected in them, and what is kept around them."""
    passages = read_passages(part, labels)
    for number, text in enumerate(passages.texts):
        yield passages.kept[number], "kept", None
        end = 0
        for start, stop in (*protected_ranges(text, labels), (len(text), len(text))):
            if text[end:start]:
                yield text[end:start], "rephrased", number
            yield text[start:stop], "kept", number
            end = stop
    yield passages.kept[-1], "kept", None


def _own_form(prompt: Prompt) -> list[Segment]:
    system, user = render(prompt, _SAMPLE)
    before, _, after = user["content"].partition(_SAMPLE)
    return [
        Segment(0, "system", system["content"], "kept"),
        Segment(1, "user", prompt.description, "rephrased", 0),
        Segment(1, "user", before.removeprefix(prompt.description), "kept"),
        Segment(1, "user", "{text}", "field"),
        Segment(1, "user", after, "kept"),
    ]
