"""Chat messages as data: in a file, in OpenAI's form with or without a wrapper, or made by a Python function."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, import_own_function, nearest
from psopt.templates._draft import ROLES, Draft, DraftMessage, Span
from psopt.templates._template import Field, Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psopt.text import Node


_SENT = frozenset({"role", "content", "name"})
# Other members of requests, which psopt sets by options of its own.
_SENT_BY = {
    "model": "--model names it",
    "max_tokens": "--max-tokens sets it",
    "max_completion_tokens": "--max-tokens sets it",
    "stream": "answers are read whole",
    "n": "one answer is asked for",
    "response_format": "--response-format sends a JSON schema",
}


def message_list(node: Node | None) -> Node | None:
    """The list of messages in a document: the document itself, or its member ``messages``; None if there is none."""
    if node is not None and isinstance(node.value, dict):
        node = node.members.get("messages")
    if node is None or not isinstance(node.value, list):
        return None
    return node


def request_members(node: Node) -> tuple[str, tuple[str, ...]]:
    """What a file with a whole request holds besides messages: a response format, and the members that are not sent."""
    plain = node.plain()
    if not isinstance(plain, dict):
        plain = {"messages": plain}
    form = plain.get("response_format")
    response_format = ""
    if isinstance(form, dict) and form.get("type") == "json_schema":
        response_format = json.dumps(plain.pop("response_format"))
    beside = dict.fromkeys(itertools.chain.from_iterable(map(_members_beside_text, plain.pop("messages"))))
    left_out = [f"{name} ({_SENT_BY.get(name, '--extra-body sends it')})" for name in plain]
    left_out += [f"{name} of messages" for name in beside]
    return response_format, tuple(left_out)


def _members_beside_text(message: dict[str, Any]) -> Iterator[str]:
    """The members of a message, and of its parts, that have content but are not sent."""
    yield from (name for name, value in message.items() if value and name not in _SENT)
    for part in message.get("content") or ():
        if isinstance(part, dict):
            yield from (name for name in part if name not in ("type", "text"))


def looks_like_chat(node: Node) -> bool:
    """Tell whether a document holds chat messages, even faulty ones."""
    is_list = isinstance(node.value, list) and all(isinstance(item.value, dict) for item in node.value)
    return is_list or "messages" in node.members


def draft_messages(where: str, messages: Sequence[Any]) -> tuple[DraftMessage, ...]:
    """Turn plain data into messages; refuse one without a known role, or without text. `where` begins the error."""
    if not messages:
        raise InputError(f"{where} holds no messages")
    drafts = tuple(_message(f"{where}: message {number}", data) for number, data in enumerate(messages, start=1))
    if not any(message.text.strip() for message in drafts):
        raise InputError(f"{where} is empty: no message holds any text")
    return drafts


def content_nodes(message: Node) -> list[Node]:
    """The strings of a message's content in order: the content itself, or its text parts."""
    content = message.value["content"]
    if isinstance(content.value, list):
        return [part.members.get("text", part) for part in content.value]
    return [content]


def _message(where: str, data: Any) -> DraftMessage:
    if not isinstance(data, dict):
        raise InputError(f"{where} is no object with role and content but {data!r:.60}")
    if "role" not in data:
        raise InputError(f"{where} has no role: one of {', '.join(ROLES)}")
    role = data["role"]
    if role not in ROLES:
        hint = nearest(str(role), ROLES) or f"; allowed: {', '.join(ROLES)}"
        raise InputError(f"{where} has an unknown role {role!r}{hint}")
    if "content" not in data:
        raise InputError(f"{where} has no content")
    content = data["content"]
    name = str(data.get("name") or "")
    if isinstance(content, str):
        return DraftMessage(role, content, name=name)
    if isinstance(content, list) and content:
        return DraftMessage.of_parts(role, [_text(where, part) for part in content], name)
    raise InputError(f"{where} has content that is no text: {content!r:.60}")


def _text(where: str, part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        part = {"type": type(part).__name__}
    kind, text = part.get("type", "text"), part.get("text")
    if kind not in ("text", "input_text") or not isinstance(text, str):
        raise InputError(f"{where} has content of type {kind!r}: psopt can send text alone")
    return text


# Two sets of values that no text contains by chance. A function that cuts fields shows: they begin and end differently,
# and the second is long.
_MARKS = ("psoptQ{:03d}A", "QpsoptQ{:03d}B" + "z" * 20_000)


class _Recorder(dict[str, str]):
    """A row that has every column; its keys are those that were asked for."""

    def __missing__(self, name: str) -> str:
        return self.setdefault(name, f"psopt {name}")

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ARG002
        """Return a value for any name."""
        return self[name]


def names_asked(name: str) -> list[str]:
    """The columns that a function asks a row for."""
    row = _Recorder()
    _call(name, row)
    return list(row)


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
