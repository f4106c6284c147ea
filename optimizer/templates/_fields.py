"""Fields in a text: names in braces that are columns of the data; and the stretches in which braces are literal.

Such stretches are code fences, inline code, quotations, JSON and XML tags.
"""

from __future__ import annotations

import itertools
import re
import sys
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from psopt.errors import InputError, nearest
from psopt.templates._draft import Span
from psopt.templates._template import Field

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"`[^`\n]+`")
_QUOTED = re.compile(
    r"\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|„[^„“”\n]*[“”]|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^‘’\n]*’(?!\w)"
)
_MEMBER = re.compile(r"\"[^\"\n]*\"\s*:")
TAG = re.compile(r"</?[A-Za-z_][\w.-]*(?:\s[^<>\n]*)?/?>")
_BRACES = re.compile(r"\{\{[ \t]*(?P<double>[^{}\n]*?[^{}\s])[ \t]*\}\}|\{(?P<single>[^{}\n]+)\}")
_NAME = re.compile(r"[^\W\d]\w*")
_TWO_WORDS = re.compile(r"[^\W\d][\w-]*[ -][\w-]+")
OWN = "psopt."
"""The prefix of the names of places for edits, such as ``{{psopt.notes}}``."""


def field_spans(text: str, columns: Collection[str], label_column: str, double_braces: bool) -> list[Span]:
    """Find the fields of a text.

    A name in braces is a field if it names a column, wherever it stands. Another name is an error, unless it stands
    in quotes, in a code fence or within JSON; every other brace is text, and so is ``{body}`` if `double_braces`
    says that only ``{{ body }}`` is a field. The label column is no field, and the error says why where it is given.

    Raises InputError if a name in braces is no column.
    """
    spans = []
    for match, name, is_literal in _names(text, double_braces):
        if name in columns:
            spans.append(Span(*match.span(), (Field(name, match.group()),)))
        elif not is_literal and _NAME.fullmatch(name):
            raise _unknown(match.group(), name, columns, label_column)
    return spans


def names_in(text: str, columns: Collection[str], *, double_braces: bool = False) -> list[str]:
    """Return the names in braces that are fields, as far as that is known without the data.

    Names in quotes, code fences and JSON count only if they are in `columns`.
    """
    named = _names(text, double_braces)
    return [name for _, name, literal in named if name in columns or (_NAME.fullmatch(name) and not literal)]


def literal_names(text: str, *, double_braces: bool) -> Iterator[tuple[re.Match[str], str]]:
    """Yield names in braces that mean themselves if they are no columns: those in quotes or fences, and of two words.

    Those in JSON are left out: they stand for the answer.
    """
    objects = json_objects(text)
    for match, name, is_literal in _names(text, double_braces):
        is_hidden = is_literal and _NAME.fullmatch(name)
        if (is_hidden or _TWO_WORDS.fullmatch(name)) and not within(match.span(), objects):
            yield match, name


def has_expressions(text: str) -> bool:
    """Tell whether double braces hold anything, outside quotes, code fences and JSON."""
    literal = _literal_spans(text)
    return any(match["double"] and not within(match.span(), literal) for match in _BRACES.finditer(text))


def _names(text: str, double_braces: bool) -> Iterator[tuple[re.Match[str], str, bool]]:
    """Names in braces, and whether they stand where an unknown one means itself."""
    literal = _literal_spans(text)
    for match in _BRACES.finditer(text):
        name = match["double"] or match["single"]
        is_text = double_braces and not match["double"]
        if not is_text and not name.startswith(OWN):
            yield match, name, within(match.span(), literal)


def _unknown(spelled: str, name: str, columns: Collection[str], label_column: str) -> InputError:
    if name == label_column:
        return InputError(f"the prompt names {spelled}, the column of the labels: the prompt would tell the answer")
    return InputError(
        f"the prompt names {spelled}, and the data have no such column{nearest(name, columns) or ';'} columns: "
        f"{', '.join(columns)} (if the braces mean themselves, put them in quotes or a code fence)"
    )


def fences(text: str) -> list[tuple[int, int]]:
    """Where code fences are; an unclosed one extends to the end."""
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


def _literal_spans(text: str) -> list[tuple[int, int]]:
    """Where an unknown name in braces is no error: fences, inline code, quotations, JSON."""
    quoted = [match.span() for match in itertools.chain(_CODE.finditer(text), _QUOTED.finditer(text))]
    return _outermost([*fences(text), *quoted, *json_objects(text)])


def within(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a span lies in one of the others, which are in order and not nested."""
    before = bisect_right(others, (span[0], sys.maxsize)) - 1
    return before >= 0 and span[1] <= others[before][1]


def touching(start: int, end: int, others: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return those of the others, which are in order and don't overlap, that share a character with a stretch."""
    first = max(0, bisect_right(others, (start, sys.maxsize)) - 1)
    last = bisect_left(others, (end, 0))
    return [span for span in others[first:last] if start < span[1]]


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The outermost spans, in order."""
    outermost: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outermost or span[1] > outermost[-1][1]:
            outermost.append(span)
    return outermost
