"""A prompt in segments, to be shown before any call: what is rephrased, what is kept, where edits go."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from psopt.rephrasings._passages import protected_ranges, read_passages
from psopt.search_spaces import render
from psopt.templates import Field, Part, Slot, open_fields, split_description

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psopt.search_spaces import Prompt
    from psopt.templates import Piece

SegmentKind = Literal["rephrased", "kept", "field", "slot"]
_Stretch = tuple[str, SegmentKind, int | None]
"""The text, its kind, and the number of the passage of the piece that it belongs to, if any."""
_SAMPLE = "\ue000"
"""Stands for the text to classify while psopt's own form is split up."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of one message."""

    message: int  # which message, from 0
    role: str
    text: str  # as in the prompt; for a slot ``{{psopt.notes}}`` or the like
    kind: SegmentKind  # ``rephrased``, ``kept``, ``field`` or ``slot``
    # Which rephrased passage it belongs to, from 0; fields and protected text within a passage are kept
    passage: int | None = None


def shown_segments(prompt: Prompt) -> list[Segment]:
    """Return a prompt's segments in order: its messages, with fields and places for edits open."""
    template = prompt.template
    if template is None:
        return _own_form(prompt)
    parts = split_description(prompt.description)
    shown: list[Segment] = []
    n_passages = 0
    for number, message in enumerate(template.messages):
        for piece in message.pieces:
            stretches = list(_stretches(piece, parts, prompt.labels))
            for text, kind, passage in stretches:
                place = None if passage is None else n_passages + passage
                shown.append(Segment(number, message.role, text, kind, place))
            n_passages += len({passage for _, _, passage in stretches} - {None})
    return shown


def marked_text(stretches: Sequence[Segment]) -> str:
    """Write segments as a text without colours: what is rephrased stands between marks.

    >>> print(marked_text([Segment(0, "user", "Sort ", "rephrased", 0), Segment(0, "user", "{body}", "field", 0)]))
    <rephrase>Sort {body}</rephrase>
    """
    marked = ""
    for passage, of_passage in itertools.groupby(stretches, key=lambda stretch: stretch.passage):
        text = "".join(stretch.text for stretch in of_passage)
        marked += text if passage is None else f"<rephrase>{text}</rephrase>"
    return marked


def _stretches(piece: Piece, parts: Sequence[str], labels: Sequence[str]) -> Iterator[_Stretch]:
    match piece:
        case Part():
            for text, kind, passage in _split(parts[piece.index], labels):
                for stretch in open_fields(text, piece.fields):
                    yield str(stretch), "field" if isinstance(stretch, Field) else kind, passage
        case Field():
            yield piece.spelled, "field", None
        case Slot():
            yield _mark(piece), "slot", None
        case _:
            yield str(piece), "kept", None


def _split(part: str, labels: Sequence[str]) -> Iterator[_Stretch]:
    """A part's passages, without what is protected in them, and what is kept around them."""
    passages = read_passages(part, labels)
    for number, text in enumerate(passages.texts):
        yield passages.kept[number], "kept", None
        end = 0
        for start, stop in (*protected_ranges(text, labels), (len(text), len(text))):
            yield text[end:start], "rephrased", number
            yield text[start:stop], "kept", number
            end = stop
    yield passages.kept[-1], "kept", None


def _mark(slot: Slot) -> str:
    """A place for edits as the author could have marked it, on a line of its own if edits are."""
    before = slot.opening[: len(slot.opening) - len(slot.opening.lstrip())]
    after = slot.closing[len(slot.closing.rstrip()) :]
    return f"{before}{slot.spelled or f'{{{{psopt.{slot.kind}}}}}'}{after}"


def _own_form(prompt: Prompt) -> list[Segment]:
    system, *turns = render(prompt, _SAMPLE)  # with examples as turns of a conversation there are several
    shown = [Segment(0, "system", system["content"], "kept"), Segment(1, "user", prompt.description, "rephrased", 0)]
    for number, turn in enumerate(turns, start=1):
        text = turn["content"].removeprefix(prompt.description) if number == 1 else turn["content"]
        before, field, after = text.partition(_SAMPLE)
        shown.append(Segment(number, turn["role"], before, "kept"))
        if field:
            shown += [Segment(number, turn["role"], "{text}", "field"), Segment(number, turn["role"], after, "kept")]
    return shown
