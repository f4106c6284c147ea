"""A prompt in stretches, as it is shown: what is rephrased, what is kept, where fields and edits go."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from psopt.templates._render import part_pieces
from psopt.templates._template import Field, Part, Slot, split_description

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.templates._template import Piece, Template

SegmentKind = Literal["rephrased", "kept", "field", "slot"]
Stretch = tuple[str, SegmentKind, int | None]
"""A stretch of a part: its text, its kind, and which passage of the part it belongs to, if to any."""
SplitPart = Callable[[str], Iterable[Stretch]]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one message."""

    message: int  # which message, from 0
    role: str
    text: str  # as it stands in the prompt; of a slot ``{{psopt.notes}}`` or the like
    kind: SegmentKind  # ``rephrased``, ``kept``, ``field`` or ``slot``
    # Which of the passages that are rephrased it belongs to, from 0; fields and what is protected are kept in one
    passage: int | None = None


def segments(template: Template, description: str, split: SplitPart | None = None) -> list[Segment]:
    """Return a prompt in stretches, in its order; `split` says what of a part is kept, by default nothing but fields.

    Raises InputError if the description has another number of parts than the template, or a part lost a field.
    """
    parts = split_description(description) if template.n_parts else []
    shown: list[Segment] = []
    n_passages = 0
    for number, message in enumerate(template.messages):
        for piece in message.pieces:
            stretches = list(_stretches(piece, parts, split or _whole))
            for text, kind, passage in stretches:
                place = None if passage is None else n_passages + passage
                shown.append(Segment(number, message.role, text, kind, place))
            n_passages += len({passage for _, _, passage in stretches} - {None})
    return shown


def _stretches(piece: Piece, parts: Sequence[str], split: SplitPart) -> Iterator[Stretch]:
    match piece:
        case Part(index):
            part_pieces(piece, parts[index])  # refuses a part that lost a field
            for text, kind, passage in split(parts[index]):
                yield from _without_fields(text, kind, passage, [field.spelled for field in piece.fields])
        case Field():
            yield piece.spelled, "field", None
        case Slot():
            yield _mark(piece), "slot", None
        case _:
            yield str(piece), "kept", None


def _whole(part: str) -> list[Stretch]:
    return [(part, "rephrased", 0)]


def _without_fields(text: str, kind: SegmentKind, passage: int | None, fields: Sequence[str]) -> Iterator[Stretch]:
    pattern = "|".join(map(re.escape, sorted(fields, key=len, reverse=True)))
    for stretch in re.split(f"({pattern})", text) if pattern else [text]:
        if stretch:
            yield stretch, "field" if stretch in fields else kind, passage


def _mark(slot: Slot) -> str:
    """A place for edits as the author could have marked it, on a line of its own where edits stand so."""
    before = slot.opening[: len(slot.opening) - len(slot.opening.lstrip())]
    after = slot.closing[len(slot.closing.rstrip()) :]
    return f"{before}{slot.spelled or f'{{{{psopt.{slot.kind}}}}}'}{after}"
