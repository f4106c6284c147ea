"""Prompts that a Python function makes: a row in, messages out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, import_own_function
from psopt.templates._draft import Draft, DraftMessage, Span, draft_messages
from psopt.templates._template import Field, Origin

if TYPE_CHECKING:
    from collections.abc import Sequence

# Two sets of values that no text contains by chance. A function that cuts fields shows: they begin and end differently,
# and the second is long.
_MARKS = ("psoptQ{:03d}A", "QpsoptQ{:03d}B" + "z" * 20_000)


class _Recorder(dict[str, str]):
    """A row that has every column, and remembers which were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, name: str) -> str:
        self.names.append(name)
        return f"psopt {name}"

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ARG002
        """Return a value for any name."""
        return self[name]


def names_asked(name: str) -> list[str]:
    """The columns that a function asks a row for."""
    row = _Recorder()
    _call(name, row)
    return list(dict.fromkeys(row.names))


def draft_of_function(name: str, columns: Sequence[str]) -> Draft:
    """Call a function with marked values, and find them in its messages; refuse one that does more than insert them."""
    results = []
    for mark in _MARKS:
        marks = {mark.format(index): column for index, column in enumerate(columns)}
        row = {column: value for value, column in marks.items()}
        messages = _messages(name, _call(name, row))
        results.append(tuple(_with_fields(message, marks) for message in messages))
    first, second = results
    if first != second or any("psoptq" in message.text.casefold() for message in first):
        raise InputError(
            f"prompt {name}: its messages depend on the data in other ways than by putting them in: write them as a "
            "template with fields in braces"
        )
    return Draft(first, Origin("python", ".json", {"function": name}))


def _call(name: str, row: dict[str, str]) -> Any:
    function = import_own_function(name, "prompt", "a row")
    try:
        return function(row)
    except KeyError as error:
        raise InputError(f"prompt {name} asks for {error.args[0]!r}, and the data have {', '.join(row)}") from error
    except Exception as error:  # whatever the user's function does with a row
        raise InputError(f"prompt {name} failed on a row: {type(error).__name__}: {error}") from error


def _messages(name: str, made: Any) -> tuple[DraftMessage, ...]:
    if isinstance(made, str):
        made = [{"role": "user", "content": made}]
    if not isinstance(made, (list, tuple)):
        raise InputError(f"prompt {name} returns {type(made).__name__}: a list of messages or a text is needed")
    return draft_messages(
        f"prompt {name}", [dict(message) if hasattr(message, "keys") else message for message in made]
    )


def _with_fields(message: DraftMessage, marks: dict[str, str]) -> DraftMessage:
    """The message with each marked value as a field."""
    pattern = "|".join(map(re.escape, marks)) or "(?!)"  # which is nowhere
    text = ""
    fields = []
    for piece in re.split(f"({pattern})", message.text):
        shown = piece
        if piece in marks:
            shown = f"{{{marks[piece]}}}"
            fields.append(Span(len(text), len(text) + len(shown), (Field(marks[piece], shown),)))
        text += shown
    return replace(message, text=text, seams=(), fields=tuple(fields), is_searched=True)
