"""A prompt in stretches, as it is shown: what is rephrased, what is kept, where fields and edits go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from psopt.templates._render import part_pieces
from psopt.templates._template import Field, Part, Slot, split_description

if TYPE_CHECKING:
    from psopt.templates._template import Piece, Template

SegmentKind = Literal["rephrased", "kept", "field", "slot"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one message.

    Attributes
    ----------
    message : int
        Which message, from 0.
    role : str
    text : str
        As it stands in the prompt; of a slot ``{{psopt.notes}}`` or the like.
    kind : str
        ``rephrased``, ``kept``, ``field`` or ``slot``.
    """

    message: int
    role: str
    text: str
    kind: SegmentKind


def segments(template: Template, description: str) -> list[Segment]:
    """Return a prompt in stretches, in its order.

    Raises
    ------
    InputError
        If the description has another number of parts than the template, or a part lost a field.
    """
    parts = split_description(description)
    return [
        Segment(number, message.role, text, kind)
        for number, message in enumerate(template.messages)
        for piece in message.pieces
        for text, kind in _shown(piece, parts)
    ]


def _shown(piece: Piece, parts: list[str]) -> list[tuple[str, SegmentKind]]:
    match piece:
        case Part(index):
            return [_field(inner) or (str(inner), "rephrased") for inner in part_pieces(piece, parts[index]) if inner]
        case Slot(kind):
            return [(piece.spelled or f"{{{{psopt.{kind}}}}}", "slot")]
        case _:
            return [_field(piece) or (str(piece), "kept")]


def _field(piece: Piece) -> tuple[str, SegmentKind] | None:
    return (piece.spelled or f"{{{piece.name}}}", "field") if isinstance(piece, Field) else None
