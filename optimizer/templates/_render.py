"""From a template, and what a prompt puts into it, to the messages that are sent."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.templates._template import Field, Message, Part, Slot, Template, last_user, split_description

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.templates._template import ExampleForm, Piece

Messages = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Additions:
    """What a prompt adds to its template."""

    definitions: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    examples: tuple[tuple[Mapping[str, str], str], ...] = ()


def render_template(template: Template, description: str, additions: Additions, fields: Mapping[str, str]) -> Messages:
    """Fill a template: its parts, its slots, its fields, each once; the content of data is never read as a template.

    Raises InputError if the description has another number of parts than the template, a part lost a field, or a field
    has no value.
    """
    filled = fill_slots(template, description, additions)
    return [{**message.head, "content": _text(message.pieces, fields)} for message in filled.messages]


def fill_slots(template: Template, description: str, additions: Additions) -> Template:
    """Return the template with its parts and slots filled in and its fields open: what an export writes."""
    parts = split_description(description) if template.n_parts else []
    if len(parts) != template.n_parts:
        raise InputError(
            f"the template has {template.n_parts} parts that are rephrased, and the description {len(parts)}"
        )
    turns: list[Message] = []
    for example in additions.examples if template.example.turns else ():
        text, answer = _turn(template.example, *example)
        turns += [Message("user", (text,)), Message("assistant", (answer,))]
    messages = [
        replace(message, pieces=tuple(_filled(template, message.pieces, parts, additions)))
        for message in template.messages
    ]
    last = last_user([message.role for message in messages])
    return replace(template, messages=(*messages[:last], *turns, *messages[last:]))


def _filled(template: Template, pieces: Sequence[Piece], parts: Sequence[str], additions: Additions) -> list[Piece]:
    filled: list[Piece] = []
    after = ""  # of the slot just filled
    for piece in pieces:
        if isinstance(piece, Slot):
            if text := _slot(template.example, piece, additions):
                if "".join(map(str, filled[-3:])).endswith("\n\n"):
                    text = text.removeprefix("\n")  # the slot before it has already left an empty line
                filled.append(text)
                after = piece.after
            continue
        filled.append(after)
        after = ""
        if isinstance(piece, Part):
            filled += part_pieces(piece, parts[piece.index])
        else:
            filled.append(piece)
    return _joined([*filled, after])


def part_pieces(part: Part, text: str) -> list[Piece]:
    """A part's text with its fields open again; anything else in braces is text."""
    spellings = {place.spelled: place for place in part.fields}
    lost = [spelled for spelled in spellings if spelled not in text]
    if lost:
        raise InputError(f"a rephrasing lost the field {lost[0]}: {text!r}")
    if not spellings:
        return [text]
    longest_first = sorted(spellings, key=len, reverse=True)
    pieces = re.split(f"({'|'.join(map(re.escape, longest_first))})", text)
    return [spellings.get(piece, piece) for piece in pieces]


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
    """The same pieces, with neighbouring texts joined."""
    joined: list[Piece] = []
    for is_text, group in itertools.groupby(pieces, key=lambda piece: isinstance(piece, str)):
        run = list(group)
        joined += ["".join(map(str, run))] if is_text else run
    return [piece for piece in joined if piece != ""]


def _slot(form: ExampleForm, slot: Slot, additions: Additions) -> str:
    items: Sequence[str] = ()
    if slot.kind == "notes":
        items = additions.notes
    elif slot.kind == "definitions":
        items = [f"{label}{slot.separator}{text}" for label, text in additions.definitions]
    elif not form.turns:
        items = [form.gap.join(_turn(form, *example)) for example in additions.examples]
    if not items:
        return ""
    return slot.opening + slot.joint.join(f"{slot.bullet}{item}" for item in items) + slot.closing


def _turn(form: ExampleForm, fields: Mapping[str, str], label: str) -> tuple[str, str]:
    """The input and the answer of an example."""
    return _text(form.input, fields), example_answer(form, fields, label)


def example_answer(form: ExampleForm, fields: Mapping[str, str], label: str) -> str:
    """Write the answer of an example in the template's output form."""
    if not form.keys:
        return form.output.replace("{label}", label)
    values = {**fields, form.label_key: label}
    members: dict[str, Any] = {}
    for path in form.keys:
        *around, name = path.split(".")
        inner = members
        value = values.get(path, fields.get(name))
        if value is not None:
            for key in around:
                inner = inner.setdefault(key, {})
            inner[name] = value
    return json.dumps(members, ensure_ascii=False)


def _text(pieces: Sequence[Piece], fields: Mapping[str, str]) -> str:
    for piece in pieces:
        if isinstance(piece, Field) and piece.name not in fields:
            raise InputError(f"the prompt names {piece.spelled}, and a sample has no such field: {', '.join(fields)}")
    return "".join(fields[piece.name] if isinstance(piece, Field) else str(piece) for piece in pieces)
