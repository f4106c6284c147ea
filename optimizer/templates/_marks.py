"""Marks with which an author says what is rephrased and where edits go; they are not sent."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.errors import InputError, nearest
from psopt.templates._draft import DraftMessage, Span
from psopt.templates._fields import OWN
from psopt.templates._foreign import foreign_marks
from psopt.templates._template import SLOTS, Slot

if TYPE_CHECKING:
    from collections.abc import Collection

_REPHRASE = re.compile(r"</?rephrase>")
_OPEN = re.compile(r"\{\{[^{}\n]*\}\}|\{[ \t]*[^\W\d][\w .-]*\}|</?rephrase>")
_SLOT = re.compile(r"\{\{[ \t]*psopt\.(?P<kind>[\w.-]*)[ \t]*\}\}")


def template_marks(text: str, columns: Collection[str] = ()) -> list[str]:
    """Return the pieces of a text that would be fields or marks in a template's file, or would be refused there.

    psopt never reads what it fills in as a template. But an exported prompt is a file, in which ``{body}`` in an
    example is a field like any other.

    >>> template_marks('My {body} hurts, {"a": 1}, {{ x }}')
    ['{body}', '{{ x }}']
    >>> template_marks('{% if x %}, which Jinja would read')
    ['{% if x %}']
    """
    own = _OPEN.findall(text)
    return own + [match.group() for match, _ in foreign_marks(text, columns) if match.group() not in own]


def has_marks(text: str) -> bool:
    """Tell whether an author has marked anything."""
    return _REPHRASE.search(text) is not None or _SLOT.search(text) is not None


def without_marks(message: DraftMessage) -> DraftMessage:
    """Return a message without its marks, which records what they marked.

    A mark that stands alone on its line is removed with its line break.

    Raises InputError if ``<rephrase>`` is never closed, never opened, or stands within another; or if a place names no
    kind of edit.
    """
    text = message.text
    _check_balanced(text)
    marks = [(*_whole_line(message, *mark.span()), mark) for mark in _REPHRASE.finditer(text)]
    places = [(*_whole_line(message, *mark.span()), mark) for mark in _SLOT.finditer(text)]
    removed = sorted((start, end) for start, end, _ in (*marks, *places))

    def moved(position: int) -> int:
        return position - sum(min(end, position) - start for start, end in removed if start < position)

    def moved_span(span: Span) -> Span:
        return Span(moved(span.start), moved(span.end), span.pieces)

    marked = [(moved(opening[1]), moved(closing[0])) for opening, closing in zip(marks[::2], marks[1::2], strict=True)]
    slots = [Span(moved(start), moved(start), (_slot(text, start, end, mark),)) for start, end, mark in places]
    for start, end in marked:
        if any(start < slot.start < end for slot in slots):
            raise InputError("a place for edits, such as {{psopt.notes}}, can't stand within <rephrase>..</rephrase>")
    for start, end in reversed(removed):
        text = text[:start] + text[end:]
    return replace(
        message,
        text=text,
        seams=tuple(map(moved_span, message.seams)),
        fields=tuple(map(moved_span, message.fields)),
        marked=tuple(marked),
        slots=tuple(slots),
    )


def _check_balanced(text: str) -> None:
    """Refuse marks that don't open and close in turn."""
    line_of_open = 0
    for mark in _REPHRASE.finditer(text):
        line = text.count("\n", 0, mark.start()) + 1
        closes = mark.group() == "</rephrase>"
        if closes and not line_of_open:
            raise InputError(f"line {line} of the text closes a <rephrase> that is not open")
        if line_of_open and not closes:
            raise InputError(f"line {line} of the text opens a <rephrase> within another")
        line_of_open = 0 if closes else line
    if line_of_open:
        raise InputError(f"the <rephrase> in line {line_of_open} of the text is never closed")


def _slot(text: str, start: int, end: int, mark: re.Match[str]) -> Slot:
    kind = next((kind for kind in SLOTS if kind == mark["kind"]), None)
    if kind is None:
        near = nearest(mark["kind"], SLOTS) or f": there are {', '.join(f'{OWN}{kind}' for kind in SLOTS)}"
        raise InputError(f"the prompt names {mark.group()}, which is no place for edits{near}")
    indent = text[start : mark.start()]
    newline = text[mark.end() : end].lstrip(" \t")
    joint = newline or "\n"
    if kind != "examples":
        return Slot(kind, indent, newline, joint=joint + indent, spelled=mark.group())
    # Examples are paragraphs: what follows their line begins a new one.
    closing = newline
    if text[end : end + 1].strip():
        closing = newline * 2
    return Slot(kind, indent, closing, bullet="", joint=joint * 2 + indent, spelled=mark.group())


def _whole_line(message: DraftMessage, start: int, end: int) -> tuple[int, int]:
    """The line with its break, if nothing else stands on it; otherwise the stretch itself."""
    text = message.text
    first = max((seam.end for seam in message.seams if seam.end <= start), default=0)
    last = min((seam.start for seam in message.seams if seam.start >= end), default=len(text))
    line_start = text.rfind("\n", first, start) + 1 or first
    line_end = text.find("\n", end, last) + 1 or last
    alone = not (text[line_start:start] + text[end:line_end]).strip(" \t\r\n")
    return (line_start, line_end) if alone else (start, end)
