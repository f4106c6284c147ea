"""The lines of a prompt that show the sample: the block around its fields, which examples repeat."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.templates._literals import touching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.templates._draft import Span
    from psopt.templates._lines import Line

_OPEN_END = re.compile(r"[ \t]*(?:[^\w<>\n]*(?:\w+[ \t]+){0,3}\w+[^\w<>\n]*:|<[A-Za-z_][\w.-]*>)[ \t]*\r?$")
_DELIMITER = re.compile(r"(?P<mark>\"{3,}|'{3,}|-{3,}|={3,}|\*{3,}|`{3,}|~{3,}|#{3,}|<{3,}|>{3,})\w*\s*")
_JOINING = ("blank", "tag", "lead", "caption")
"""Kinds of lines that may stand between fields of one block."""


@dataclass(frozen=True, slots=True)
class InputBlock:
    """Where a message shows its sample."""

    # The block that examples repeat, its leading line and enclosing tags included
    start: int
    end: int
    top: int  # where examples go: the block's start, or that of the heading or instruction which opens it
    tail: tuple[int, int]  # an open end after the block, such as ``Answer:``; empty where there is none


def input_block(
    text: str, lines: Sequence[Line], fields: Sequence[Span], parts: Sequence[Span], edges: Sequence[int] = ()
) -> InputBlock | None:
    """Find the last block of fields in a text; None where it has no fields.

    Parameters
    ----------
    parts : sequence of Span
        What is rephrased: no part of what examples repeat.
    edges : sequence of int
        Where the author wants edits: no line is one with the block across them.
    """
    places = [(field.start, field.end) for field in fields]
    rows = [row for row, line in enumerate(lines) if touching(line.outer_start, line.outer_end, places)]
    if not rows:
        return None
    first = last = rows[-1]
    for above in reversed(rows[:-1]):
        if any(line.kind not in _JOINING for line in lines[above + 1 : first]):
            break
        first = above
    first, last = _with_tags(text, lines, *_with_delimiters(text, lines, first, last))
    start, end = lines[first].outer_start, lines[last].outer_end
    top = first
    parted = any(lines[first - 1].outer_start <= edge <= start for edge in edges)
    if first and lines[first - 1].kind == "lead" and not parted:
        first -= 1
        start, top = lines[first].outer_start, first
    opening = _opening_row(text, lines, top)
    tail = _tail(text, lines, last)
    if lines[opening].kind == "heading" and text[tail[0] : tail[1]].startswith("#"):
        start = lines[opening].outer_start  # sections of input and of answer: an example has both
    shared = [part for part in parts if part.start < end and start < part.end]
    if shared:
        # An instruction on the same line is no part of what an example repeats.
        after = [field.start for field in fields if field.start >= shared[-1].end and field.end <= end]
        start = after[0] if after else end
    return InputBlock(start, end, lines[opening].outer_start, tail)


def _with_delimiters(text: str, lines: Sequence[Line], first: int, last: int) -> tuple[int, int]:
    """Take in the pair of lines between which the block is quoted: three quotes, dashes, or a code fence."""
    if first and last + 1 < len(lines):
        opening = _DELIMITER.fullmatch(text, lines[first - 1].outer_start, lines[first - 1].outer_end)
        closing = _DELIMITER.fullmatch(text, lines[last + 1].outer_start, lines[last + 1].outer_end)
        if opening and closing and opening["mark"] == closing["mark"]:
            return first - 1, last + 1
    return first, last


def _with_tags(text: str, lines: Sequence[Line], first: int, last: int) -> tuple[int, int]:
    """Take in the tags that enclose the block, one pair a step, and those that close what the block opens."""
    while last + 1 < len(lines) and lines[last + 1].kind == "tag":
        closes = re.match(r"\s*</([\w.-]+)>", text[lines[last + 1].start : lines[last + 1].end])
        block = text[lines[first].outer_start : lines[last].outer_end]
        if closes is None or block.count(f"<{closes[1]}") <= block.count(f"</{closes[1]}>"):
            break
        last += 1
    while first and last + 1 < len(lines) and lines[first - 1].kind == lines[last + 1].kind == "tag":
        opening = text[lines[first - 1].start : lines[first - 1].end].strip()
        closing = text[lines[last + 1].start : lines[last + 1].end].strip()
        name = re.match(r"<([\w.-]+)", opening)
        if name is None or closing != f"</{name[1]}>":
            break
        first, last = first - 1, last + 1
    return first, last


def _opening_row(text: str, lines: Sequence[Line], row: int) -> int:
    """The row of the heading, or of the paragraph ending in a colon, that opens a block."""
    above = row - 1
    while above >= 0 and lines[above].kind == "blank":
        above -= 1
    if above < 0:
        return row
    if lines[above].kind == "heading":
        return above
    if lines[above].kind in ("lead", "prose", "output") and text[: lines[above].end].rstrip().endswith(":"):
        while above and lines[above - 1].kind not in ("blank", "heading", "tag", "fence"):
            above -= 1
        return above
    return row


def _tail(text: str, lines: Sequence[Line], last: int) -> tuple[int, int]:
    rest = [line for line in lines[last + 1 :] if line.kind != "blank"]
    if not rest:
        return (0, 0)
    line = rest[-1]
    is_open = _OPEN_END.match(text, line.outer_start, line.outer_end) is not None
    return (line.outer_start, line.outer_end) if is_open else (0, 0)
