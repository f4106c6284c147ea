"""A template as a value: the user's own chat messages, with places for fields, instructions and edits; and filled."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from psopt.errors import DataError, InputError
from psopt.text import read_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


SlotKind = Literal["notes", "definitions", "examples"]
SLOTS: tuple[SlotKind, ...] = get_args(SlotKind)
PART_BREAK = "\n\n"
"""Between the parts of a prompt's description: a part never holds an empty line."""


@dataclass(frozen=True, slots=True)
class Field:
    """A place for a column of the data, and how the author spelled it: ``{body}``, ``{{ body }}``.

    If it is not `written`, psopt added it since the prompt names no field: the author's program adds the text there.
    """

    name: str
    spelled: str
    written: bool = True

    def __str__(self) -> str:
        return self.spelled


@dataclass(frozen=True, slots=True)
class Part:
    """A place for one of the rephrased paragraphs, by its index in the description, from 0.

    `fields` are those within the paragraph: a rephrasing must keep them as they are spelled.
    """

    index: int
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Text that is sent but not written back: between text parts, and before a sample that psopt puts at the end."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for edits, which is empty until there are any: ``notes``, ``definitions`` or ``examples``.

    `opening` and `closing` stand around the items, in the template's own style: a heading, a tag, empty lines. A
    `bullet` stands before each item, a `joint` between items, the `separator` between a label and its meaning. `after`
    separates the slot from the text that follows, unless another filled slot follows. `spelled` is the mark with which
    the author chose the place, such as ``{{psopt.notes}}``; empty if psopt chose it.
    """

    kind: SlotKind
    opening: str = ""
    closing: str = ""
    bullet: str = "- "
    separator: str = ": "
    joint: str = "\n"
    spelled: str = ""
    after: str = ""


Piece = str | Field | Part | Slot | Unwritten
Messages = list[dict[str, str]]
"""As requests hold them."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: its role, and its content in pieces; strings are kept byte for byte."""

    role: str
    pieces: tuple[Piece, ...]
    name: str = ""

    @property
    def head(self) -> dict[str, str]:
        """The speaker, in the form that requests and JSON use."""
        speaker = {"role": self.role}
        if self.name:
            speaker["name"] = self.name
        return speaker


@dataclass(frozen=True, slots=True)
class ExampleForm:
    """How a few-shot example looks: the template's own input and output form.

    The `gap` is between them if they stand in one message; with `turns`, an example is a user's turn and an
    assistant's before the last message. The `output` has ``{label}`` in place of the label. If there are `keys`, the
    answer is JSON with these members in order, without those for which a sample has no field; `label_key` holds the
    label. The `bare` ones are numbers, or true or false, as far as a sample's are.
    """

    input: tuple[str | Field, ...] = (Field("text", "{text}"),)
    gap: str = "\n"
    output: str = "{label}"
    label_key: str = ""
    keys: tuple[str, ...] = ()
    turns: bool = False
    bare: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a template comes from, so that it can be written back in its original form."""

    format: str = "text"  # ``text``, ``openai``, ``promptfoo``, ``python`` or ``psopt``
    suffix: str = ".txt"  # of the file: ``.txt``, ``.md``, ``.json``, ``.yaml``
    # Plain JSON data that are needed to write the format back: whether messages were wrapped, indentation
    details: dict[str, Any] = field(default_factory=dict, hash=False, compare=False)


@dataclass(frozen=True, slots=True)
class Template:
    """Chat messages with named fields.

    `answer` says how an answer is read: ``label``, ``json:team``, ``xml:answer``, ``regex:PATTERN``, ``last-line`` or
    ``MODULE:NAME``. The `response_format` is a JSON schema that is sent with each request, as JSON text; empty if there
    is none. The `origin` is not part of what is asked, nor of the prompt's identity.
    """

    messages: tuple[Message, ...]
    answer: str = "label"
    example: ExampleForm = ExampleForm()
    response_format: str = ""
    origin: Origin = field(default=Origin(), compare=False)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of all messages, in order."""
        return tuple(itertools.chain.from_iterable(message.pieces for message in self.messages))

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that the template names, in the order in which they first appear."""
        names: dict[str, None] = {}
        for piece in self.pieces:
            if isinstance(piece, Field):
                names[piece.name] = None
            elif isinstance(piece, Part):
                names |= dict.fromkeys(place.name for place in piece.fields)
        return tuple(names)

    @property
    def n_parts(self) -> int:
        """How many paragraphs are rephrased."""
        return sum(isinstance(piece, Part) for piece in self.pieces)

    def to_dict(self) -> dict[str, Any]:
        """Return the template as plain JSON data: literal text as strings, everything else as objects."""
        data: dict[str, Any] = json.loads(json.dumps(asdict(self)))  # tuples become lists
        if not self.example.bare:
            del data["example"]["bare"]  # prompts without any keep the id that they had before there were any
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Template:
        """Build a template from `to_dict`'s data; raises InputError if a part is missing or of the wrong kind."""
        try:
            return read_data(cls, data)
        except ValueError as error:
            _, *where_and_what = map(str.strip, str(error).splitlines())
            raise InputError(f"a template can't be built from these data: {': '.join(where_and_what[:2])}") from error


def split_description(description: str) -> list[str]:
    """Return the parts of a template's description."""
    return description.split(PART_BREAK)


def last_user(roles: Sequence[str]) -> int:
    """Return the place of the user's last message among messages of these roles, or the last place if there is none."""
    return max((place for place, role in enumerate(roles) if role == "user"), default=len(roles) - 1)


@dataclass(frozen=True, slots=True)
class Additions:
    """What a prompt adds to its template."""

    definitions: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    examples: tuple[tuple[Mapping[str, str], str], ...] = ()


def render_template(template: Template, description: str, additions: Additions, fields: Mapping[str, str]) -> Messages:
    """Fill a template: its parts, its slots, its fields, each once; the content of data is never read as a template.

    Raises InputError if the description has another number of parts than the template, or a part lost a field; and
    DataError if a field has no value.
    """
    filled = fill_slots(template, description, additions)
    return [{**message.head, "content": filled_in(message.pieces, fields)} for message in filled.messages]


def fill_slots(template: Template, description: str, additions: Additions) -> Template:
    """Return the template with its parts and slots filled in and its fields open: what an export writes."""
    parts = split_description(description) if template.n_parts else []
    if len(parts) != template.n_parts:
        stated = f"{template.n_parts} parts that are rephrased"
        raise InputError(f"the template has {stated}, and the description {len(parts)}")
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
            text = parts[piece.index]
            if lost := [place.spelled for place in piece.fields if place.spelled not in text]:
                raise InputError(f"a rephrasing lost the field {lost[0]}: {text!r}")
            filled += open_fields(text, piece.fields)
        else:
            filled.append(piece)
    return _joined([*filled, after])


def open_fields(text: str, fields: Iterable[Field]) -> list[str | Field]:
    """Return a text in pieces, with these fields where it spells them; anything else in braces is text."""
    spellings = {place.spelled: place for place in fields}
    longest_first = sorted(spellings, key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first)) or "(?!)"  # which is nowhere
    return [spellings.get(piece, piece) for piece in re.split(f"({pattern})", text) if piece]


def _joined(pieces: Sequence[Piece]) -> list[Piece]:
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
    return filled_in(form.input, fields), example_answer(form, fields, label)


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
            inner[name] = _plain(value, is_bare=path in form.bare)
    return json.dumps(members, ensure_ascii=False)


def _plain(text: str, *, is_bare: bool) -> Any:
    """The list, or for a bare member the number or truth value, that a text stands for; otherwise the text itself."""
    try:
        value = json.loads({"True": "true", "False": "false"}.get(text, text))
    except ValueError:
        return text
    return value if isinstance(value, list) or (is_bare and isinstance(value, (int, float))) else text


def filled_in(pieces: Sequence[Piece], fields: Mapping[str, str]) -> str:
    """Return pieces as one text, with a row's values in place of its fields."""
    for piece in pieces:
        if isinstance(piece, Field) and piece.name not in fields:
            has = ", ".join(fields)
            raise DataError(f"the row has no column {piece.name!r}, which the prompt names; it has {has}")
    return "".join(fields[piece.name] if isinstance(piece, Field) else str(piece) for piece in pieces)
