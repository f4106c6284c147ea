"""A prompt as it was read from its file: messages of text, before they are analysed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from psopt.templates._template import Field, Slot, Unwritten, last_user

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.templates._template import Origin, Piece

Placed = TypeVar("Placed", Field, Slot)

ROLES = ("system", "developer", "user", "assistant")
BETWEEN_TEXT_PARTS = "\n"
"""Sent between the text parts of one message, as chat templates of open models join them."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text and the pieces that replace it in a template; none if it is not sent."""

    start: int
    end: int
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftMessage:
    """A message as text."""

    role: str
    text: str  # the whole content
    seams: tuple[Span, ...] = ()  # where the text parts meet, if it came in several
    fields: tuple[Span, ...] = ()  # where fields are
    is_searched: bool = False  # whether all fields are known: then other braces are text
    marked: tuple[tuple[int, int], ...] = ()  # what the author marked for rephrasing
    slots: tuple[Span, ...] = ()  # where the author wants edits
    name: str = ""  # whose message it is, as OpenAI's few-shot turns say (``example_user``); mostly empty

    @classmethod
    def of_parts(cls, role: str, parts: Sequence[str], name: str) -> DraftMessage:
        """Make a message from its text parts."""
        between = Unwritten(BETWEEN_TEXT_PARTS)
        ends = itertools.accumulate(len(part) + len(BETWEEN_TEXT_PARTS) for part in parts[:-1])
        seams = tuple(Span(end - len(BETWEEN_TEXT_PARTS), end, (between,)) for end in ends)
        return cls(role, BETWEEN_TEXT_PARTS.join(parts), seams, name=name)


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt as messages of text."""

    messages: tuple[DraftMessage, ...]
    origin: Origin
    double_braces: bool = False  # whether only ``{{ body }}`` is a field, and ``{body}`` text
    response_format: str = ""  # the response format that the file asks for, as JSON; empty if it has none
    # Members of a whole request that are not sent, each with the option that sends it instead
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # further notes on how the file was read

    @property
    def last_user(self) -> int:
        """The index of the user's last message, or of the last message if there is none."""
        return last_user([message.role for message in self.messages])

    @property
    def shows_turns(self) -> bool:
        """Whether examples are shown as turns: an assistant answers before the user's last message."""
        return any(message.role == "assistant" for message in self.messages[: self.last_user])


def places_in(spans: Iterable[Span], kind: type[Placed]) -> list[Placed]:
    """Return the fields, or the slots, that replace these spans."""
    pieces = itertools.chain.from_iterable(span.pieces for span in spans)
    return [piece for piece in pieces if isinstance(piece, kind)]


def pieces_of(text: str, spans: Iterable[Span]) -> tuple[Piece, ...]:
    """Return a text in pieces: literal text, and what replaces each span.

    Spans must not overlap; those at the same place keep their order.
    """
    pieces: list[Piece] = []
    position = 0
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        pieces += [text[position : span.start], *span.pieces]
        position = span.end
    return tuple(piece for piece in [*pieces, text[position:]] if piece != "")
