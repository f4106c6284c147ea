"""Marks with which an author says what is rephrased and where edits go; they are not sent."""

from __future__ import annotations

import re
from dataclasses import replace

from psopt.errors import InputError, nearest
from psopt.templates._draft import DraftMessage, Span
from psopt.templates._fields import OWN
from psopt.templates._template import SLOTS, Slot

_REPHRASE = re.compile(r"</?rephrase>")
_OPEN = re.compile(r"\{\{[^{}\n]*\}\}|\{[ \t]*[^\W\d][\w .-]*\}|</?rephrase>")
_SLOT = re.compile(r"\{\{[ \t]*psopt\.(?P<kind>[\w.-]*)[ \t]*\}\}")


def template_marks(text: str) -> list[str]:
    """Return the pieces of a text that would be fields or marks in a template's file.

    psopt never reads what it fills in as a template. But an exported prompt is a file, in which ``{body}`` in an
    example is a field like any other.

    >>> template_marks('My {body} hurts, {"a": 1}, {{ x }}')
    ['{body}', '{{ x }}']
    """
    return _OPEN.findall(text)


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
    opening = _balanced(text)
    marks = [(*_whole_line(message, *mark.span()), mark) for mark in _REPHRASE.finditer(text)]
    places = [(*_whole_line(message, *mark.span()), mark) for mark in _SLOT.finditer(text)]
    removed = sorted((start, end) for start, end, _ in (*marks, *places))

    def moved(position: int) -> int:
        return position - sum(min(end, position) - start for start, end in removed if start < position)

    def moved_span(span: Span) -> Span:
        return Span(moved(span.start), moved(span.end), span.pieces)

    edges = [moved(end) if number % 2 == 0 else moved(start) for number, (start, end, _) in enumerate(marks)]
    slots = [Span(moved(start), moved(start), (_slot(text, start, end, mark),)) for start, end, mark in places]
    if any(start < slot.start < end for slot in slots for start, end in zip(edges[::2], edges[1::2], strict=True)):
        raise InputError("a place for edits, such as {{psopt.notes}}, can't stand within <rephrase>..</rephrase>")
    ends = [0, *(position for span in removed for position in span), len(text)]
    unmarked_text = "".join(text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
    return replace(
        message,
        text=unmarked_text,
        seams=tuple(map(moved_span, message.seams)),
        fields=tuple(map(moved_span, message.fields)),
        marked=tuple(zip(edges[::2], edges[1::2], strict=True)) if opening else (),
        slots=tuple(slots),
    )


def _balanced(text: str) -> bool:
    """Check that marks open and close in turn, and say whether there are any."""
    opened: re.Match[str] | None = None
    for mark in _REPHRASE.finditer(text):
        line = _line(text, mark.start())
        closes = mark.group().startswith("</")
        if closes and opened is None:
            raise InputError(f"line {line} of the text closes a <rephrase> that is not open")
        if not closes and opened is not None:
            raise InputError(f"line {line} of the text opens a <rephrase> within another")
        opened = None if closes else mark
    if opened is not None:
        raise InputError(f"the <rephrase> in line {_line(text, opened.start())} of the text is never closed")
    return _REPHRASE.search(text) is not None


def _slot(text: str, start: int, end: int, mark: re.Match[str]) -> Slot:
    kind = next((kind for kind in SLOTS if kind == mark["kind"]), None)
    if kind is None:
        near = nearest(mark["kind"], SLOTS) or f": there are {', '.join(f'{OWN}{kind}' for kind in SLOTS)}"
        raise InputError(f"the prompt names {mark.group()}, which is no place for edits{near}")
    indent = text[start : mark.start()]
    newline = text[mark.end() : end].lstrip(" \t")
    joint = (newline or "\n") * (2 if kind == "examples" else 1)
    bullet = "" if kind == "examples" else "- "
    # Examples are paragraphs: what follows their line begins a new one.
    attached = kind == "examples" and newline and text[end : end + 1].strip()
    return Slot(kind, indent, newline * (2 if attached else 1), bullet, joint=joint + indent, spelled=mark.group())


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _whole_line(message: DraftMessage, start: int, end: int) -> tuple[int, int]:
    """The line with its break, if nothing else stands on it; otherwise the stretch itself."""
    text = message.text
    first = max((seam.end for seam in message.seams if seam.end <= start), default=0)
    last = min((seam.start for seam in message.seams if seam.start >= end), default=len(text))
    line_start = text.rfind("\n", first, start) + 1 or first
    line_end = text.find("\n", end, last) + 1 or last
    alone = not (text[line_start:start] + text[end:line_end]).strip(" \t\r\n")
    return (line_start, line_end) if alone else (start, end)
