"""Fields in a text: names in braces that are columns of the data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from psopt.errors import InputError, nearest
from psopt.templates._draft import Span
from psopt.templates._literals import literal_spans, within
from psopt.templates._template import Field

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_BRACES = re.compile(r"\{\{[ \t]*(?P<double>[^{}\n]*?[^{}\s])[ \t]*\}\}|\{(?P<single>[^{}\n]+)\}")
_NAME = re.compile(r"[^\W\d]\w*")
OWN = "psopt."
"""Begins the names of the places for edits, such as ``{{psopt.notes}}``."""


def field_spans(
    text: str, columns: Collection[str], *, label_column: str = "", answer: bool = False, double_braces: bool = False
) -> list[Span]:
    """Find the fields of a text.

    A name in braces is a field where it names a column, wherever it stands. Another name is an error, unless it stands
    in quotes, in a code fence or within JSON; every other brace is text, and so is ``{body}`` where `double_braces`
    says that only ``{{ body }}`` is a field. The label column is none, but in an `answer` that the prompt shows.

    Raises InputError if a name in braces is no column.
    """
    literal = literal_spans(text)
    spans = []
    for match, name in _names(text, double_braces):
        if name in columns:
            spans.append(Span(*match.span(), (Field(name, match.group()),)))
        elif not within(match.span(), literal):
            _check_literal(match.group(), name, columns, "" if answer else label_column)
    return spans


def names_in(text: str, columns: Collection[str] = (), *, double_braces: bool = False) -> list[str]:
    """Return the names in braces that are fields, as far as that is known without the data.

    Those in quotes, code fences and JSON are among them only where they are in `columns`.
    """
    literal = literal_spans(text)
    return [
        name
        for match, name in _names(text, double_braces)
        if name in columns or (_NAME.fullmatch(name) and not within(match.span(), literal))
    ]


def has_expressions(text: str) -> bool:
    """Tell whether double braces hold anything, outside quotes, code fences and JSON."""
    literal = literal_spans(text)
    return any(match["double"] and not within(match.span(), literal) for match in _BRACES.finditer(text))


def _names(text: str, double_braces: bool) -> Iterator[tuple[re.Match[str], str]]:
    for match in _BRACES.finditer(text):
        name = match["double"] or ("" if double_braces else match["single"])
        if name and not name.startswith(OWN):
            yield match, name


def _check_literal(spelled: str, name: str, columns: Collection[str], label_column: str) -> None:
    if not _NAME.fullmatch(name):
        return
    if name == label_column:
        raise InputError(f"the prompt names {spelled}, the column of the labels: the prompt would tell the answer")
    near = nearest(name, columns)
    raise InputError(
        f"the prompt names {spelled}, and the data have no such column{near}"
        f"{'' if near.endswith('?') else ';'} columns: {', '.join(columns)} (if the braces mean "
        f"themselves, put them in quotes or a code fence)"
    )
