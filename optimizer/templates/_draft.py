"""A prompt as it was read from its file: messages of text, before anything in them is looked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.templates._template import Unwritten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.templates._template import Origin, Piece

ROLES = ("system", "developer", "user", "assistant")
BETWEEN_TEXT_PARTS = "\n"
"""Sent between the text parts of one message; chat templates of open models join them so."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text and the pieces that stand for it in a template; none where it is not sent."""

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
    is_searched: bool = False  # whether these are all: braces in the text mean nothing then
    marked: tuple[tuple[int, int], ...] = ()  # what the author marked for rephrasing
    slots: tuple[Span, ...] = ()  # where the author wants edits
    name: str = ""  # whose message it is, as OpenAI's few-shot turns say (``example_user``); mostly empty

    @classmethod
    def of_parts(cls, role: str, parts: Sequence[str], name: str) -> DraftMessage:
        """Make a message of its text parts."""
        seams = []
        position = 0
        for part in parts[:-1]:
            position += len(part)
            seams.append(Span(position, position + len(BETWEEN_TEXT_PARTS), (Unwritten(BETWEEN_TEXT_PARTS),)))
            position += len(BETWEEN_TEXT_PARTS)
        return cls(role, BETWEEN_TEXT_PARTS.join(parts), tuple(seams), name=name)


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt as messages of text."""

    messages: tuple[DraftMessage, ...]
    origin: Origin
    double_braces: bool = False  # whether only ``{{ body }}`` is a field, and ``{body}`` text
    response_format: str = ""  # what the file asks answers to be, as JSON; empty where it does not
    # Members of a whole request that are not sent by it, each with the option that sends it
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what else is to be said of how the file was read

    @property
    def last_user(self) -> int:
        """The index of the last message of the user's; of the last message where there is none."""
        indices = [index for index, message in enumerate(self.messages) if message.role == "user"]
        return max(indices, default=len(self.messages) - 1)

    @property
    def shows_turns(self) -> bool:
        """Whether examples are shown as turns: an assistant answers before the user's last message."""
        return any(message.role == "assistant" for message in self.messages[: self.last_user])


def pieces_of(text: str, spans: Iterable[Span]) -> tuple[Piece, ...]:
    """Return a text in pieces: literal text, and what stands for each span.

    Spans must not overlap; those that begin at one place keep their order.
    """
    ordered = sorted(spans, key=lambda span: (span.start, span.end))
    pieces: list[Piece] = []
    position = 0
    for span in ordered:
        pieces += [text[position : span.start], *span.pieces]
        position = span.end
    return tuple(piece for piece in [*pieces, text[position:]] if piece != "")
