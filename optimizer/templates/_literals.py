"""Stretches of a prompt that mean themselves: code fences, inline code, quotations, JSON, XML tags."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"`[^`\n]+`")
_QUOTED = re.compile(
    r"\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|„[^„“”\n]*[“”]|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^‘’\n]*’(?!\w)"
)
_MEMBER = re.compile(r"\"[^\"\n]*\"\s*:")
TAG = re.compile(r"</?[A-Za-z_][\w.-]*(?:\s[^<>\n]*)?/?>")


def fences(text: str) -> list[tuple[int, int]]:
    """Where code fences are; one that is never closed goes to the end."""
    return [match.span() for match in _FENCE.finditer(text)]


def json_objects(text: str) -> list[tuple[int, int]]:
    """Where outermost braces hold something that looks like JSON: a quoted name and a colon."""
    members = [match.span() for match in _MEMBER.finditer(text)]
    spans = []
    opened: list[int] = []
    for match in re.finditer(r"[{}]", text):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            # An opening brace that is never closed must not hide what comes after it: inner objects count, too.
            first = bisect_left(members, (start, 0))
            if first < len(members) and members[first][1] <= match.end():
                spans.append((start, match.end()))
    return _outermost(spans)


def literal_spans(text: str) -> list[tuple[int, int]]:
    """Where a name in braces is not taken for a field that was forgotten: fences, inline code, quotations, JSON."""
    quoted = [match.span() for pattern in (_CODE, _QUOTED) for match in pattern.finditer(text)]
    return _outermost([*fences(text), *quoted, *json_objects(text)])


def within(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a span lies in one of the others, which are in order and none in another."""
    before = bisect_right(others, (span[0], sys.maxsize)) - 1
    return before >= 0 and span[1] <= others[before][1]


def touching(start: int, end: int, others: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return those of the others, in order and apart, that share a character with a stretch."""
    first = max(0, bisect_right(others, (start, sys.maxsize)) - 1)
    last = bisect_left(others, (end, 0))
    return [span for span in others[first:last] if start < span[1]]


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """In order, and none in another."""
    outermost: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outermost or span[1] > outermost[-1][1]:
            outermost.append(span)
    return outermost
