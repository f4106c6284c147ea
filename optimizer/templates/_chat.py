"""Chat messages in a file's data: OpenAI's form, with or without a wrapper."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, nearest
from psopt.templates._draft import ROLES, DraftMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    inner = node.members.get("messages") if node is not None and isinstance(node.value, dict) else node
    return inner if inner is not None and isinstance(inner.value, list) else None


def request_members(node: Node) -> tuple[str, tuple[str, ...]]:
    """What a file with a whole request holds besides messages: a response format, and the members that are not sent."""
    plain = node.plain()
    messages = plain["messages"] if isinstance(plain, dict) else plain
    members = {name: member for name, member in plain.items() if name != "messages"} if isinstance(plain, dict) else {}
    form = members.get("response_format")
    is_schema = isinstance(form, dict) and form.get("type") == "json_schema"
    if is_schema:
        del members["response_format"]
    left_out = [f"{name} ({_SENT_BY.get(name, '--extra-body sends it')})" for name in members]
    within = dict.fromkeys(name for message in messages for name in _members_beside_text(message))
    left_out += [f"{name} of messages" for name in within]
    return (json.dumps(form) if is_schema else ""), tuple(left_out)


def _members_beside_text(message: dict[str, Any]) -> list[str]:
    """The members of a message, and of its parts, that have content but are not sent."""
    content = message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    own = [name for name, value in message.items() if value and name not in _SENT]
    return own + [name for part in parts for name in part if name not in ("type", "text")]


def looks_like_chat(node: Node) -> bool:
    """Tell whether a document holds chat messages, even faulty ones."""
    is_list = isinstance(node.value, list) and all(isinstance(item.value, dict) for item in node.value)
    return is_list or "messages" in node.members


def draft_messages(where: str, messages: Sequence[Any]) -> tuple[DraftMessage, ...]:
    """Turn chat messages, given as plain data, into text; `where` begins error messages.

    Raises InputError if one has no role, an unknown one, or content that is no text.
    """
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
        return [part.value["text"] if isinstance(part.value, dict) else part for part in content.value]
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
    kind = part.get("type", "text") if isinstance(part, dict) else type(part).__name__
    text = part.get("text") if isinstance(part, dict) else None
    if kind not in ("text", "input_text") or not isinstance(text, str):
        raise InputError(f"{where} has content of type {kind!r}: psopt can send text alone")
    return text
