"""Stretches of a prompt that mean themselves: code fences, inline code, quotations, JSON, XML tags."""

from __future__ import annotations

import re

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
    spans = []
    opened: list[int] = []
    for match in re.finditer(r"[{}]", text):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            # An opening brace that is never closed must not hide what comes after it: inner objects count, too.
            if _MEMBER.search(text, start, match.end()):
                spans.append((start, match.end()))
    return [span for span in spans if not any(_within(span, other) for other in spans if other != span)]


def quotations(text: str) -> list[tuple[int, int]]:
    """Where quotations and inline code are, each on one line."""
    return [match.span() for pattern in (_CODE, _QUOTED) for match in pattern.finditer(text)]


def literal_spans(text: str) -> list[tuple[int, int]]:
    """Where a name in braces is not taken for a field that was forgotten: fences, quotations, JSON."""
    return [*fences(text), *quotations(text), *json_objects(text)]


def within(span: tuple[int, int], others: list[tuple[int, int]]) -> bool:
    """Tell whether a span lies in one of the others."""
    return any(_within(span, other) for other in others)


def _within(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return other[0] <= span[0] and span[1] <= other[1]
