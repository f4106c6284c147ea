"""Where notes, definitions and examples go in a prompt whose author has not said it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.templates._layout import layout_at, shows_examples
from psopt.templates._template import Slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.templates._draft import Span
    from psopt.templates._lines import Line
    from psopt.templates._template import SlotKind

_SAME_BLOCK = ("prose", "bullet", "labels", "caption")


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a text that is empty until there are edits: after a block, or before the line that begins there."""

    position: int
    before: bool


def place_after(text: str, lines: Sequence[Line], start: int, end: int) -> Place:
    """Find the place for notes: after the block of the last instruction.

    Before it instead, where the instruction leads straight into what follows (``Classify this ticket:``).
    """
    row = next(row for row, line in enumerate(lines) if line.outer_end >= end)
    first = next(row for row, line in enumerate(lines) if line.outer_end >= start)
    leads = text[start:end].endswith(":")
    beside_field = lines[row].kind == "field"
    row = _last_of_block(lines, row, leads=leads)
    listed = lines[row].kind in ("bullet", "labels")
    if beside_field or (leads and not listed):
        return Place(lines[_first_of_block(lines, first)].outer_start, before=True)
    return Place(_after_element(text, lines, row), before=False)


def slot_at(text: str, place: Place, kind: SlotKind, elsewhere: str = "") -> Slot:
    """Return an empty slot for a place, in the style of what surrounds it."""
    layout = layout_at(text, place.position, elsewhere)
    new = layout.newline
    slot = layout.section(kind, again=kind == "examples" and shows_examples(text[: place.position]))
    if place.before:
        before = text[: place.position]
        attached = before.strip() and not before.endswith((new * 2, ">" + new)) and kind == "examples"
        return replace(slot, opening=(new if attached else "") + slot.opening, closing=slot.closing + new * 2)
    rest = text[place.position :]
    dense = layout.style == "xml" and rest.startswith(f"{new}<")
    followed = bool(rest.strip()) and not rest.startswith(new * 2) and not rest.lstrip(" \t").startswith(new * 2)
    after = new if followed and not dense else ""
    return replace(slot, opening=(new if dense else new * 2) + slot.opening, after=after)


def own_slots(spans: Sequence[Span]) -> set[str]:
    """The kinds of edits for which an author chose a place."""
    return {piece.kind for span in spans for piece in span.pieces if isinstance(piece, Slot)}


def _last_of_block(lines: Sequence[Line], row: int, *, leads: bool) -> int:
    """The last row of a paragraph; a paragraph that ends in a colon takes the list after it along."""
    while row + 1 < len(lines) and lines[row + 1].kind in _SAME_BLOCK:
        row += 1
    if leads:
        below = row + 1
        while below < len(lines) and lines[below].kind == "blank":
            below += 1
        if below < len(lines) and lines[below].kind in ("bullet", "labels"):
            return _last_of_block(lines, below, leads=False)
    return row


def _first_of_block(lines: Sequence[Line], row: int) -> int:
    while row and lines[row - 1].kind in _SAME_BLOCK:
        row -= 1
    return row


def _after_element(text: str, lines: Sequence[Line], row: int) -> int:
    """The end of a row; of the element around it, where nothing but its text stands before its closing tag."""
    below = row + 1
    while below < len(lines) and lines[below].kind in (*_SAME_BLOCK, "blank"):
        below += 1
    closes = below < len(lines) and text[lines[below].start : lines[below].end].strip().startswith("</")
    return lines[below if closes else row].outer_end
