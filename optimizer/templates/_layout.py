"""How a prompt is laid out around a place: Markdown headings, XML sections, or plain paragraphs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from psopt.templates._literals import TAG, fences, within
from psopt.templates._template import Slot

if TYPE_CHECKING:
    from psopt.templates._template import SlotKind

Style = Literal["markdown", "xml", "plain"]

_HEADING = re.compile(
    r"^(?P<level>#{1,6})[ \t]+(?P<title>[^\n#]*[^\n# \t\r])(?P<closing>[ \t]+#+)?[^\n]*\n?(?P<blank>[ \t\r]*\n)?",
    re.MULTILINE,
)
_TAG_LINE = re.compile(rf"^[ \t]*(?=</?(?P<name>[\w.-]+)){TAG.pattern}", re.MULTILINE)
_BULLET = re.compile(r"^(?P<bullet>[ \t]*[-*+•][ \t]+)\S", re.MULTILINE)
_HEADINGS: dict[SlotKind, str] = {"definitions": "What the labels mean", "notes": "Notes", "examples": "Examples"}
EXAMPLES = re.compile(r"^[^\w\n]{0,6}(?:\w+[ \t]+)?examples?\b[^\n]{0,20}$", re.IGNORECASE | re.MULTILINE)
"""A line that opens examples."""


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

    def section(self, kind: SlotKind, *, again: bool = False) -> Slot:
        """Return a slot with its heading, or its tags; what stands around them is left to the place."""
        new = self.newline
        name = _HEADINGS[kind]
        title = f"More {name.lower()}" if again else name
        if self.style == "xml":
            tag = "examples" if kind == "examples" else kind
            slot = Slot(kind, f"<{tag}>{new}", f"{new}</{tag}>", self.bullet, joint=new)
            item = (f"<example>{new}", f"{new}</example>")
            return _enclosed(slot, item, new) if kind == "examples" else slot
        title = title.upper() if self.is_upper else title
        heading = f"{self.level} {title}{self.closing}" if self.style == "markdown" else f"{title}:"
        gap = new * 2 if self.spacious or kind == "examples" else new
        bullet, joint = ("", new * 2) if kind == "examples" else (self.bullet, new)
        return Slot(kind, heading + gap, "", bullet, joint=joint)


def layout_at(text: str, position: int, elsewhere: str = "", answer_tag: str = "") -> Layout:
    """Read the style that a section at a place of a text should have.

    Parameters
    ----------
    elsewhere : str
        The prompt's other messages: their XML sections count where this text has no style of its own.
    answer_tag : str
        An element that is the form of the answer, and no section.
    """
    bullet = _BULLET.search(text)
    layout = Layout(bullet=bullet["bullet"].lstrip() if bullet else "- ", newline="\r\n" if "\r\n" in text else "\n")
    closed = fences(text)
    headings = [heading for heading in _HEADING.finditer(text) if not within(heading.span(), closed)]
    if headings:
        rest = text[position:].lstrip()
        if rest and not _HEADING.match(rest):  # a heading here would take the rest of the section along
            return layout
        before = [heading for heading in headings if heading.start() < position]
        near = before[-1] if before else headings[0]
        after = [heading for heading in headings if heading.start() >= position]
        # A section that subsections follow gets one more subsection: theirs would be its own otherwise.
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


def _enclosed(slot: Slot, item: tuple[str, str], newline: str) -> Slot:
    opening, closing = item
    return replace(
        slot,
        opening=slot.opening + opening,
        closing=closing + slot.closing,
        bullet="",
        joint=closing + newline + opening,
    )
