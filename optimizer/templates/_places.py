"""Where notes, definitions and examples go in a prompt whose author has not said so, and how they are laid out there.

The layout is Markdown headings, XML sections, or plain paragraphs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.templates._fields import TAG, fences, within
from psopt.templates._lines import LEAD_WORDS, newline_of
from psopt.templates._template import Slot
from psopt.text import n_words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psopt.templates._lines import Line
    from psopt.templates._template import SlotKind

_HEADING = re.compile(
    r"^(?P<level>#{1,6})[ \t]+[^\n#]*[^\n# \t\r][^\n]*\n?(?P<blank>[ \t\r]*\n)?",
    re.MULTILINE,
)
_TAG_LINE = re.compile(rf"^[ \t]*(?=</?(?P<name>[\w.-]+)){TAG.pattern}", re.MULTILINE)
_BULLET = re.compile(r"^(?P<bullet>[ \t]*[-*+•][ \t]+)\S", re.MULTILINE)
_TITLES: dict[SlotKind, str] = {"definitions": "What the labels mean", "notes": "Notes", "examples": "Examples"}
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
        while first and lines[first - 1].kind in _SAME_BLOCK:
            first -= 1
        return Place(lines[first].outer_start, before=True)
    below = _next_row(lines, row, (*_SAME_BLOCK, "blank"))
    if below < len(lines) and lines[below].text.startswith("</"):
        row = below  # only text stands before the closing tag of the element around it
    return Place(lines[row].outer_end, before=False)


def slot_at(text: str, place: Place, kind: SlotKind, elsewhere: str, answer_tag: str) -> Slot:
    """Return an empty slot for a place, in the style of what surrounds it: Markdown headings, XML, or plain paragraphs.

    If the text has no style, XML sections of the other messages (`elsewhere`) count; an `answer_tag` is no section.
    """
    new = newline_of(text)
    before, tail = text[: place.position], text[place.position :]
    fenced = fences(text)
    headings = [heading for heading in _HEADING.finditer(text) if not within(heading.span(), fenced)]
    is_xml = not headings and (
        _has_sections(text, answer_tag) or (_has_sections(elsewhere, answer_tag) and not _HEADING.search(elsewhere))
    )
    marked = _BULLET.search(text)
    bullet = marked["bullet"].lstrip() if marked else "- "
    if is_xml:
        slot = _element(kind, bullet, new)
    else:
        again = kind == "examples" and _EXAMPLES.search(before) is not None
        title = f"More {_TITLES[kind].lower()}" if again else _TITLES[kind]
        slot = _headed(kind, title, bullet, new, *_heading_style(headings, place.position, tail))
        if not place.headed:
            slot = replace(slot, opening="")
    if place.before:
        if kind == "examples" and before.strip() and not before.endswith((new * 2, ">" + new)):
            slot = replace(slot, opening=new + slot.opening)
        return replace(slot, closing=slot.closing + new * 2)
    if is_xml and tail.startswith(f"{new}<"):
        return replace(slot, opening=new + slot.opening)
    after = new if tail.strip() and not tail.lstrip(" \t").startswith(new * 2) else ""
    return replace(slot, opening=new * 2 + slot.opening, after=after)


def _heading_style(headings: Sequence[re.Match[str]], position: int, tail: str) -> tuple[str, bool]:
    """The signs of a Markdown heading at a place, and whether an empty line follows it; no signs where none fits."""
    following = tail.lstrip()
    if not headings or (following and not _HEADING.match(following)):  # it would capture the rest of the section
        return "", False
    before = [heading for heading in headings if heading.start() < position]
    near = before[-1] if before else headings[0]
    after = headings[len(before) :][:1]
    # Before subsections, what is added is one more subsection: otherwise they would become part of it.
    level = max([near["level"], *(heading["level"] for heading in after)], key=len)
    return level, near["blank"] is not None


def _headed(kind: SlotKind, title: str, bullet: str, new: str, level: str, spacious: bool) -> Slot:
    heading = f"{level} {title}" if level else f"{title}:"
    if kind == "examples":
        return Slot(kind, heading + new * 2, bullet="", joint=new * 2)
    return Slot(kind, heading + new * (2 if spacious else 1), bullet=bullet, joint=new)


def _element(kind: SlotKind, bullet: str, new: str) -> Slot:
    """A section in tags; each example has tags of its own."""
    if kind != "examples":
        return Slot(kind, f"<{kind}>{new}", f"{new}</{kind}>", bullet, joint=new)
    opening, closing = f"<example>{new}", f"{new}</example>"
    ends = (f"<{kind}>{new}{opening}", f"{closing}{new}</{kind}>")
    return Slot(kind, *ends, bullet="", joint=closing + new + opening)


def _has_sections(text: str, answer_tag: str) -> bool:
    return any(match["name"] != answer_tag for match in _TAG_LINE.finditer(text))


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
