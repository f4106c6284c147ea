"""A template written back in the format that it came in: its text changed where it was edited, and nowhere else."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.templates._chat import content_nodes, message_list
from psopt.templates._formats import document_of
from psopt.templates._promptfoo import chosen_prompt
from psopt.templates._scalar import spellings
from psopt.templates._source import BOM, Source
from psopt.templates._template import Field, Part, Slot, Unwritten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.templates._template import Message, Template
    from psopt.text import Node


@dataclass(frozen=True, slots=True)
class _Change:
    """A stretch of a file, and the ways to write what takes its place."""

    start: int
    end: int
    spellings: tuple[str, ...]


def write_template(template: Template) -> str:
    """Write a template in the format that it came in, its fields open.

    A filled template (`fill_slots`) is its file with the edits in place: line ends, indentation, the order of members
    and all other members stay. One that is not filled is its file, byte for byte. What a Python function made is
    written as JSON messages. The text begins with a byte order mark where the file did.

    Raises
    ------
    InputError
        If a template without a file is not filled.
    """
    template = replace(template, messages=tuple(filter(_is_written, template.messages)))
    details = template.origin.details
    is_open = any(isinstance(piece, (Part, Slot)) for message in template.messages for piece in message.pieces)
    mark = BOM if details.get("bom") else ""
    if "source" not in details:
        if is_open:
            raise InputError("a prompt that a Python function made is written when its places for edits are filled")
        messages = [{"role": message.role, "content": "".join(written_text(message))} for message in template.messages]
        return json.dumps(messages, indent=2, ensure_ascii=False) + "\n"
    if is_open:
        return mark + str(details["source"])
    source = Source(Path(f"prompt{template.origin.suffix}"), str(details["source"]))
    if "inline" in details:
        return mark + _inline(source, template, str(details["inline"]))
    return mark + _written(source, template)


def written_text(message: Message) -> list[str]:
    """A message's content as it is written, fields as they were spelled, by its text parts."""
    parts = [""]
    for piece in message.pieces:
        if isinstance(piece, Unwritten):
            parts.append("")
        elif isinstance(piece, Field):
            parts[-1] += piece.spelled if piece.written else ""
        else:
            parts[-1] += str(piece)
    return parts


def _is_written(message: Message) -> bool:
    """Whether a message is more than the sample, which psopt sends in one of its own where no field names it."""
    added = [
        isinstance(piece, Unwritten) or (isinstance(piece, Field) and not piece.written) for piece in message.pieces
    ]
    return not added or not all(added)


def _written(source: Source, template: Template) -> str:
    """The file around a template's messages, or the text that it is."""
    node = document_of(source)
    messages = message_list(node) if node is not None else None
    if messages is None:
        return "".join(written_text(template.messages[0]))
    expected = _expected(messages, template.messages)
    changes = _changes(source.text, messages.value, template.messages)

    def is_exact(text: str) -> bool:
        return _contents(source, text) == expected

    return _changed(source.text, changes, is_exact) or _replaced(source, node, messages, expected)


def _inline(source: Source, template: Template, suffix: str) -> str:
    """A configuration around the text of a prompt."""
    node = document_of(source)
    if node is None:
        raise InputError(f"the configuration around the prompt can't be read: {source.text:.60}")
    number = template.origin.details.get("number")
    entry = chosen_prompt(source.path, node, number)
    text = _written(Source(Path(f"prompt{suffix}"), entry.value), template)
    if text == entry.value:
        return source.text

    def is_exact(changed: str) -> bool:
        again = _document(source, changed)
        return again is not None and chosen_prompt(source.path, again, number).value == text

    change = _Change(entry.start, entry.end, tuple(spellings(source.text, entry, text)))
    changed = _changed(source.text, [change], is_exact)
    if changed is None:
        raise InputError("the edited prompt can't be written into its configuration: keep it in a file of its own")
    return changed


def _changes(text: str, nodes: Sequence[Node], messages: Sequence[Message]) -> list[_Change]:
    """What is to be written where: changed contents, and the turns that were added before the user's last message."""
    last = _last_user(nodes)
    n_added = len(messages) - len(nodes)
    kept = [*messages[:last], *messages[last + n_added :]]
    changes = []
    for node, message in zip(nodes, kept, strict=True):
        places = content_nodes(node)
        for place, content in zip(places, _by_part(message, len(places)), strict=True):
            if content != place.value:
                changes.append(_Change(place.start, place.end, tuple(spellings(text, place, content))))
    turns = [_turn(text, nodes, last, message) for message in messages[last : last + n_added]]
    changes += [_Change(nodes[last].start, nodes[last].start, turn) for turn in turns]
    return sorted(changes, key=lambda change: (change.start, change.end))


def _turn(text: str, nodes: Sequence[Node], last: int, message: Message) -> tuple[str, ...]:
    """A turn written like one of the same role that the prompt has already, else like another of its messages."""
    plain = [index for index in reversed(range(last)) if len(content_nodes(nodes[index])) == 1]
    alike = [index for index in plain if nodes[index].value["role"].value == message.role]
    if not plain:
        return ()
    index = (alike or plain)[0]
    start, end = nodes[index].start, nodes[index + 1].start
    role, (place,) = nodes[index].value["role"], content_nodes(nodes[index])
    named = text[role.start : role.end] if alike else next(spellings(text, role, message.role))
    first, second = sorted([role, place], key=lambda node: node.start)
    between, after = text[first.end : second.start], text[second.end : end]
    spelled = spellings(text, place, "".join(written_text(message)))
    pairs = [(named, content) if first is role else (content, named) for content in spelled]
    return tuple(text[start : first.start] + one + between + other + after for one, other in pairs)


def _changed(text: str, changes: Sequence[_Change], is_exact: Callable[[str], bool]) -> str | None:
    """The text with all changes, spelled so that it reads as it should; None where no spelling does."""
    if not all(change.spellings for change in changes):
        return None
    # Each further spelling is right in more cases: one level for all is enough, and there are four or five.
    for level in range(max((len(change.spellings) for change in changes), default=1)):
        pieces = []
        position = 0
        for change in changes:
            pieces += [text[position : change.start], change.spellings[min(level, len(change.spellings) - 1)]]
            position = change.end
        changed = "".join([*pieces, text[position:]])
        if is_exact(changed):
            return changed
    return None


def _expected(nodes: Node, messages: Sequence[Message]) -> list[tuple[str, list[str]]]:
    last = _last_user(nodes.value)
    n_added = len(messages) - len(nodes.value)
    counts = [len(content_nodes(node)) for node in nodes.value]
    counts[last:last] = [1] * n_added
    return [(message.role, _by_part(message, count)) for message, count in zip(messages, counts, strict=True)]


def _contents(source: Source, text: str) -> list[tuple[str, list[str]]] | None:
    node = _document(source, text)
    messages = message_list(node) if node is not None else None
    if messages is None:
        return None
    try:
        return [
            (node.value["role"].value, [content.value for content in content_nodes(node)]) for node in messages.value
        ]
    except (KeyError, TypeError, AttributeError):
        return None  # a change that spoiled the document


def _document(source: Source, text: str) -> Node | None:
    try:
        return document_of(Source(source.path, text))
    except InputError:
        return None


def _by_part(message: Message, count: int) -> list[str]:
    """A message's content in so many text parts; what psopt has put at its end belongs to the last."""
    parts = written_text(message)
    return [*parts[: count - 1], "".join(parts[count - 1 :])]


def _last_user(nodes: Sequence[Node]) -> int:
    indices = [index for index, node in enumerate(nodes) if node.value["role"].value == "user"]
    return max(indices, default=len(nodes) - 1)


def _replaced(source: Source, node: Node | None, messages: Node, expected: list[tuple[str, list[str]]]) -> str:
    """The document written anew: right, where its own style could not be kept."""
    kept = list(messages.plain())
    n_added = len(expected) - len(kept)
    last = _last_user(messages.value)
    kept[last:last] = [{"role": role, "content": ""} for role, _ in expected[last : last + n_added]]
    for message, (_, parts) in zip(kept, expected, strict=True):
        if isinstance(message["content"], str):
            message["content"] = "".join(parts)
        else:
            message["content"] = [
                {**part, "text": text} if isinstance(part, dict) else text
                for part, text in zip(message["content"], parts, strict=True)
            ]
    data = {**node.plain(), "messages": kept} if node is not None and node is not messages else kept
    if source.suffix in (".yaml", ".yml"):
        import yaml

        text: str = yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
        return text
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
