"""A prompt as it was read from its file, or made by a function, before it is analysed: messages of text."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from psopt.errors import InputError, import_own_function, nearest
from psopt.templates._template import Field, Origin, Slot, Unwritten, filled_in, last_user, open_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from psopt.templates._template import Piece
    from psopt.text import Node


Placed = TypeVar("Placed", Field, Slot)

_ROLES = ("system", "developer", "user", "assistant")
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


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text and the pieces that replace it in a template; none if it is not sent."""

    start: int
    end: int
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftMessage:
    """A message as text."""

    role: str
    text: str  # the whole content
    seams: tuple[Span, ...] = ()  # where the text parts meet, if it came in several
    fields: tuple[Span, ...] = ()  # where fields are
    marked: tuple[tuple[int, int], ...] = ()  # what the author marked for rephrasing
    slots: tuple[Span, ...] = ()  # where the author wants edits
    name: str = ""  # whose message it is, as OpenAI's few-shot turns say (``example_user``); mostly empty

    def fields_in(self, start: int, end: int) -> list[Span]:
        """The fields that lie in a stretch."""
        return [field for field in self.fields if start <= field.start and field.end <= end]

    @classmethod
    def of_parts(cls, role: str, parts: Sequence[str], name: str) -> DraftMessage:
        """Make a message from its text parts, with line breaks between, as chat templates of open models join them."""
        ends = itertools.accumulate(len(part) + 1 for part in parts[:-1])
        seams = tuple(Span(end - 1, end, (Unwritten("\n"),)) for end in ends)
        return cls(role, "\n".join(parts), seams, name=name)


@dataclass(frozen=True, slots=True)
class PartSpan:
    """A stretch of one message's text that is rephrased."""

    message: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A prompt as messages of text, and what was found in it."""

    messages: tuple[DraftMessage, ...]
    origin: Origin
    double_braces: bool = False  # whether only ``{{ body }}`` is a field, and ``{body}`` text
    response_format: str = ""  # the response format that the file asks for, as JSON; empty if it has none
    # Members of a whole request that are not sent, each with the option that sends it instead
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # further notes on how the file was read
    # The task's labels, and the column that holds them
    labels: tuple[str, ...] = ()
    label_column: str = ""
    parts: tuple[PartSpan, ...] = ()
    appended: tuple[str | Field, ...] = ()  # what psopt puts at the end, if no field is named

    @property
    def last_user(self) -> int:
        """The index of the user's last message, or of the last message if there is none."""
        return last_user([message.role for message in self.messages])

    def parts_in(self, index: int) -> list[PartSpan]:
        """The parts of one message."""
        return [part for part in self.parts if part.message == index]

    @property
    def chosen(self) -> list[str]:
        """The kinds of edits for which the author chose a place."""
        marks = itertools.chain.from_iterable(message.slots for message in self.messages)
        return [slot.kind for slot in places_in(marks, Slot)]

    @property
    def has_turns(self) -> bool:
        """Whether examples are turns: the prompt shows some, or its last message shows only the sample."""
        if "examples" in self.chosen:
            return False
        last = self.last_user
        is_answered = "assistant" in [message.role for message in self.messages[:last]]
        return is_answered or (last > 0 and not self.parts_in(last))


def places_in(spans: Iterable[Span], kind: type[Placed]) -> list[Placed]:
    """Return the fields, or the slots, that replace these spans."""
    pieces = itertools.chain.from_iterable(span.pieces for span in spans)
    return [piece for piece in pieces if isinstance(piece, kind)]


def pieces_of(text: str, spans: Iterable[Span]) -> tuple[Piece, ...]:
    """Return a text in pieces: literal text, and what replaces each span; spans at the same place keep their order."""
    pieces: list[Piece] = []
    position = 0
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        pieces += [text[position : span.start], *span.pieces]
        position = span.end
    return tuple(piece for piece in [*pieces, text[position:]] if piece != "")


def message_list(node: Node | None) -> Node | None:
    """The list of messages in a document: the document itself, or its member ``messages``; None if there is none."""
    if node is not None and isinstance(node.value, dict):
        node = node.members.get("messages")
    return node if node is not None and isinstance(node.value, list) else None


def request_members(node: Node) -> tuple[str, tuple[str, ...]]:
    """What a file with a whole request holds besides messages: a response format, and the members that are not sent."""
    plain = node.plain() if node.members else {"messages": node.plain()}
    response_format = ""
    match plain:
        case {"response_format": {"type": "json_schema"}}:
            response_format = json.dumps(plain.pop("response_format"))
    beside = dict.fromkeys(itertools.chain.from_iterable(map(_members_beside_text, plain.pop("messages"))))
    left_out = [f"{name} ({_SENT_BY.get(name, '--extra-body sends it')})" for name in plain]
    left_out += [f"{name} of messages" for name in beside]
    return response_format, tuple(left_out)


def _members_beside_text(message: dict[str, Any]) -> Iterator[str]:
    """The members of a message, and of its parts, that have content but are not sent."""
    yield from (name for name, value in message.items() if value and name not in _SENT)
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
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
        raise InputError(f"{where} has no role: one of {', '.join(_ROLES)}")
    role = data["role"]
    if role not in _ROLES:
        hint = nearest(str(role), _ROLES) or f"; allowed: {', '.join(_ROLES)}"
        raise InputError(f"{where} has an unknown role {role!r}{hint}")
    if "content" not in data:
        raise InputError(f"{where} has no content")
    content = data["content"]
    parts = [content] if isinstance(content, str) else content
    if not isinstance(parts, list) or not parts:
        cure = ": put it in quotes, since YAML reads braces as an object" if isinstance(content, dict) else ""
        raise InputError(f"{where} has content that is no text: {content!r:.60}{cure}")
    return DraftMessage.of_parts(role, [_text(where, part) for part in parts], str(data.get("name") or ""))


def _text(where: str, part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        part = {"type": type(part).__name__}
    kind, text = part.get("type", "text"), part.get("text")
    if kind not in ("text", "input_text") or not isinstance(text, str):
        raise InputError(f"{where} has content of type {kind!r}: psopt can send text alone")
    return text


_SHOWN = 40  # characters of a message that differs, from a little before the first difference
# Two sets of values that no text contains by chance. A function that cuts fields shows: they begin and end differently,
# and the second is long.
_MARKS = ("psoptQ{:03d}A", "QpsoptQ{:03d}B" + "z" * 20_000)


class _Recorder(dict[str, str]):
    """A row that has every column, and remembers which were asked for."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}

    def __missing__(self, name: str) -> str:
        self.names[name] = None
        return f"psopt {name}"

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ARG002
        """Return a value for any name."""
        return self[name]


def names_asked(name: str) -> list[str]:
    """The columns that a function asks a row for."""
    row = _Recorder()
    _call(name, row)
    return list(row.names)


def draft_of_function(name: str, columns: Sequence[str]) -> Draft:
    """Call a function with marked values, and find them in its messages; refuse one that does more than insert them."""
    results = []
    for mark in _MARKS:
        marks = {mark.format(index): column for index, column in enumerate(columns)}
        made = _call(name, {column: value for value, column in marks.items()})
        results.append(tuple(_with_fields(message, marks) for message in _messages(name, made)))
    messages, others = results
    if messages != others or any("psoptq" in message.text.casefold() for message in messages):
        raise InputError(
            f"prompt {name}: its messages depend on the data in other ways than by putting them in: write them as a "
            "template with fields in braces"
        )
    return Draft(messages, Origin("python", ".json", {"function": name}))


def check_on_rows(name: str, draft: Draft, rows: Iterable[tuple[str, Mapping[str, str]]]) -> None:
    """Refuse a function that does more with a row, given with its sample's id, than insert its values."""
    for sample_id, row in rows:
        messages = _messages(name, _call(name, dict(row)))
        made = "\n".join(f"{message.role}: {message.text}" for message in messages)
        filled = "\n".join(
            f"{message.role}: {filled_in(pieces_of(message.text, message.fields), row)}" for message in draft.messages
        )
        if made != filled:
            pairs = enumerate(zip(made, filled, strict=False))
            place = next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(made), len(filled)))
            start = max(0, place - _SHOWN // 2)
            shown = [text[start : place + _SHOWN].replace("\n", " ") for text in (made, filled)]
            raise InputError(
                f"prompt {name}: for sample {sample_id} it does more than put the data in ({shown[0]!r} where its "
                f"template has {shown[1]!r}): do that in the data, or in a column of its own"
            )


def _call(name: str, row: dict[str, str]) -> Any:
    function = import_own_function(name, "prompt", "a row")
    try:
        return function(row)
    except KeyError as error:
        raise InputError(f"prompt {name} asks for {error.args[0]!r}, and the data have {', '.join(row)}") from error
    except (Exception, SystemExit) as error:  # whatever the user's function does with a row
        raise InputError(f"prompt {name} failed on a row: {type(error).__name__}: {error}") from error


def _messages(name: str, made: Any) -> tuple[DraftMessage, ...]:
    if isinstance(made, str):
        made = [{"role": "user", "content": made}]
    if not isinstance(made, (list, tuple)):
        raise InputError(f"prompt {name} returns {type(made).__name__}: a list of messages or a text is needed")
    messages = [dict(message) if hasattr(message, "keys") else message for message in made]
    return draft_messages(f"prompt {name}", messages)


def _with_fields(message: DraftMessage, marks: dict[str, str]) -> DraftMessage:
    text = ""
    fields = []
    for piece in open_fields(message.text, [Field(column, mark) for mark, column in marks.items()]):
        if isinstance(piece, Field):
            piece = Field(piece.name, f"{{{piece.name}}}")
            fields.append(Span(len(text), len(text) + len(piece.spelled), (piece,)))
        text += str(piece)
    return replace(message, text=text, seams=(), fields=tuple(fields))
