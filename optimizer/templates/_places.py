"""Where notes, definitions and examples go in a prompt whose author has not said so, and how they are laid out there.

The layout is Markdown headings, XML sections, or plain paragraphs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from psopt.templates._fields import TAG, fences, within
from psopt.templates._lines import LEAD_WORDS, n_words, newline_of
from psopt.templates._template import Slot

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psopt.templates._lines import Line
    from psopt.templates._template import SlotKind

Style = Literal["markdown", "xml", "plain"]

_HEADING = re.compile(
    r"^(?P<level>#{1,6})[ \t]+(?P<title>[^\n#]*[^\n# \t\r])(?P<closing>[ \t]+#+)?[^\n]*\n?(?P<blank>[ \t\r]*\n)?",
    re.MULTILINE,
)
_TAG_LINE = re.compile(rf"^[ \t]*(?=</?(?P<name>[\w.-]+)){TAG.pattern}", re.MULTILINE)
_BULLET = re.compile(r"^(?P<bullet>[ \t]*[-*+•][ \t]+)\S", re.MULTILINE)
_HEADINGS: dict[SlotKind, str] = {"definitions": "What the labels mean", "notes": "Notes", "examples": "Examples"}
_EXAMPLES = re.compile(r"^[^\w\n]{0,6}(?:\w+[ \t]+)?examples?\b[^\n]{0,20}$", re.IGNORECASE | re.MULTILINE)
"""A line that introduces examples."""
_STEP = re.compile(r"[ \t]*1[.)][ \t]")
_SAME_BLOCK = ("prose", "bullet", "labels", "caption")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text that is empty until there are edits: after a block, or before the line that begins there.

    If it is not `headed`, what is added continues what stands before it.
    """

    position: int
    before: bool
    headed: bool = True


def place_after(text: str, lines: Sequence[Line], start: int, end: int) -> Place:
    """Find the place for notes: after the block of the last instruction.

    It is before that block if the instruction leads straight into what follows (``Classify this ticket:``).
    """
    row = next(row for row, line in enumerate(lines) if line.outer_end >= end)
    first = next(row for row, line in enumerate(lines) if line.outer_end >= start)
    leads = text[start:end].endswith(":")
    beside_field = lines[row].kind == "field"
    row = _last_of_block(text, lines, row, leads=leads)
    listed = lines[row].kind in ("bullet", "labels")
    if beside_field or (leads and not listed):
        return Place(lines[_first_of_block(lines, first)].outer_start, before=True)
    return Place(_after_element(text, lines, row), before=False)


def slot_at(text: str, place: Place, kind: SlotKind, elsewhere: str, answer_tag: str) -> Slot:
    """Return an empty slot for a place, in the style of what surrounds it."""
    layout = layout_at(text, place.position, elsewhere, answer_tag)
    new = layout.newline
    slot = layout.section(kind, again=kind == "examples" and _EXAMPLES.search(text[: place.position]) is not None)
    if not place.headed and layout.style != "xml":
        slot = replace(slot, opening="")
    if place.before:
        before = text[: place.position]
        if kind == "examples" and before.strip() and not before.endswith((new * 2, ">" + new)):
            slot = replace(slot, opening=new + slot.opening)
        return replace(slot, closing=slot.closing + new * 2)
    tail = text[place.position :]
    if layout.style == "xml" and tail.startswith(f"{new}<"):
        return replace(slot, opening=new + slot.opening)
    slot = replace(slot, opening=new * 2 + slot.opening)
    if tail.strip() and not tail.lstrip(" \t").startswith(new * 2):
        slot = replace(slot, after=new)
    return slot


def place_before(text: str, top: int, start: int, first_field: int) -> Place:
    """Find the place for examples: before the input; they continue the prompt's own examples of the same form."""
    caption = text[start:first_field].strip()
    goes_on = bool(caption) and f"\n{caption}" in text[:top]
    return Place(top, before=True, headed=not goes_on)


def place_at_end(text: str) -> Place:
    """Find the place for examples if the sample comes at the end: before a line that announces it (``Review:``)."""
    announced = announcing_line(text)
    return Place(len(text.rstrip()) - len(announced), before=bool(announced))


def announcing_line(text: str) -> str:
    """The last line of a text, if it is a short one that announces what comes next."""
    last = text.rstrip().rsplit("\n", 1)[-1]
    if last.endswith(":") and n_words(last) <= LEAD_WORDS:
        return last
    return ""


def _last_of_block(text: str, lines: Sequence[Line], row: int, *, leads: bool) -> int:
    """The last row of a paragraph, including numbered steps after it and, if it ends in a colon, any list."""
    row = _next_row(lines, row, _SAME_BLOCK) - 1
    below = _next_row(lines, row, ("blank",))
    listed = below < len(lines) and lines[below].kind in ("bullet", "labels")
    if listed and (leads or _STEP.match(text, lines[below].start)):
        return _last_of_block(text, lines, below, leads=False)
    return row


def _next_row(lines: Sequence[Line], row: int, skipped: Collection[str]) -> int:
    """The first row below one that is not of these kinds; the number of rows if there is none."""
    return next((below for below in range(row + 1, len(lines)) if lines[below].kind not in skipped), len(lines))


def _first_of_block(lines: Sequence[Line], row: int) -> int:
    while row and lines[row - 1].kind in _SAME_BLOCK:
        row -= 1
    return row


def _after_element(text: str, lines: Sequence[Line], row: int) -> int:
    """The end of a row, or of the element around it if only text stands before the closing tag."""
    below = _next_row(lines, row, (*_SAME_BLOCK, "blank"))
    if below < len(lines) and text[lines[below].start : lines[below].end].strip().startswith("</"):
        row = below
    return lines[row].outer_end


@dataclass(frozen=True, slots=True)
class Layout:
    """The style of a section at one place of a text."""

    style: Style = "plain"
    # The signs before and after a Markdown heading
    level: str = "##"
    closing: str = ""
    is_upper: bool = False  # whether headings are in capitals
    spacious: bool = False  # whether an empty line follows a heading
    bullet: str = "- "
    newline: str = "\n"

    def section(self, kind: SlotKind, *, again: bool) -> Slot:
        """Return a slot with its heading, or its tags; what stands around them is left to the place."""
        if self.style == "xml":
            return self._element(kind)
        new = self.newline
        title = _HEADINGS[kind]
        if again:
            title = f"More {title.lower()}"
        if self.is_upper:
            title = title.upper()
        heading = f"{title}:"
        if self.style == "markdown":
            heading = f"{self.level} {title}{self.closing}"
        if kind == "examples":
            return Slot(kind, heading + new * 2, bullet="", joint=new * 2)
        gap = new * 2 if self.spacious else new
        return Slot(kind, heading + gap, bullet=self.bullet, joint=new)

    def _element(self, kind: SlotKind) -> Slot:
        """A slot in tags; each example has tags of its own."""
        new = self.newline
        if kind != "examples":
            return Slot(kind, f"<{kind}>{new}", f"{new}</{kind}>", self.bullet, joint=new)
        opening, closing = f"<example>{new}", f"{new}</example>"
        joint = closing + new + opening
        return Slot(kind, f"<examples>{new}{opening}", f"{closing}{new}</examples>", bullet="", joint=joint)


def layout_at(text: str, position: int, elsewhere: str, answer_tag: str) -> Layout:
    """Read the style that a section at a place of a text should have.

    If the text has none, XML sections of the other messages (`elsewhere`) count; the answer's element is no section.
    """
    bullet = _BULLET.search(text)
    layout = Layout(bullet=bullet["bullet"].lstrip() if bullet else "- ", newline=newline_of(text))
    closed = fences(text)
    headings = [heading for heading in _HEADING.finditer(text) if not within(heading.span(), closed)]
    if headings:
        tail = text[position:].lstrip()
        if tail and not _HEADING.match(tail):  # a heading here would capture the rest of the section
            return layout
        before = [heading for heading in headings if heading.start() < position]
        near = before[-1] if before else headings[0]
        after = headings[len(before) :]
        # Before subsections, what is added is one more subsection: otherwise they would become part of it.
        level = max([near["level"], *(heading["level"] for heading in after[:1])], key=len)
        return replace(
            layout,
            style="markdown",
            level=level,
            closing=near["closing"] or "",
            is_upper=near["title"].isupper(),
            spacious=near["blank"] is not None,
        )
    if _has_sections(text, answer_tag) or (_has_sections(elsewhere, answer_tag) and not _HEADING.search(elsewhere)):
        return replace(layout, style="xml")
    return layout


def _has_sections(text: str, answer_tag: str) -> bool:
    return any(match["name"] != answer_tag for match in _TAG_LINE.finditer(text))
