"""From a prompt to what people read, fields open and additions marked; and what its literal text says of labels."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from psopt.search_spaces._prompt import open_messages, own_instructions, render
from psopt.search_spaces._prompt_parts import Definition
from psopt.tasks import Row
from psopt.text import line_changes, statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search_spaces._prompt import Prompt
    from psopt.templates import Messages, Template
    from psopt.text import Statements


def with_statements(prompt: Prompt) -> Prompt:
    """Return the prompt with the definitions and notes in its template's literal text, such as an export's edits."""
    if prompt.template is None:
        return prompt
    literal = _literal_statements(prompt.template, prompt.labels)
    meanings = {label: [text] for label, text in literal.definitions}
    for definition in prompt.definitions:
        meanings.setdefault(definition.label, []).append(definition.text)
    definitions = tuple(Definition.of_texts(label, texts) for label, texts in meanings.items())
    return replace(prompt, definitions=definitions, notes=(*literal.notes, *prompt.notes))


@lru_cache(maxsize=64)  # a search has few templates, and asks about each for every candidate
def _literal_statements(template: Template, labels: tuple[str, ...]) -> Statements:
    spoken = [message.pieces for message in template.messages if message.role != "assistant"]
    texts = ["".join(piece for piece in pieces if isinstance(piece, str)) for pieces in spoken]
    return statements("\n\n".join(texts), labels)


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a prompt, and whether the original lacks it."""

    text: str
    added: bool = False


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message of a prompt, line by line; `added` if the original lacks all of it, like an example's turns."""

    role: str
    lines: tuple[ShownLine, ...]
    added: bool = False


def render_instructions(prompt: Prompt) -> str:
    """Render all of a prompt except the text to classify: for a template, its messages with their fields open."""
    return render_shown(prompt) if prompt.template else own_instructions(prompt)


def render_fixed(prompt: Prompt) -> str:
    """Render what every request of a prompt contains, whatever the text: this measures the prompt's length."""
    if prompt.template is None:
        return own_instructions(prompt)
    nothing = Row("", dict.fromkeys(prompt.template.fields, ""))
    return "\n".join(message["content"] for message in render(prompt, nothing))


def shown_messages(prompt: Prompt, original: Prompt | None = None) -> list[ShownMessage]:
    """Return messages with open fields, marking lines that the original, by default without additions, lacks."""
    messages = open_messages(prompt)
    original = original or replace(prompt, definitions=(), notes=(), examples=())
    marked = iter(mark_added(_lines(open_messages(original)), _lines(messages)))
    shown = []
    for message in messages:
        lines = tuple(itertools.islice(marked, len(_lines([message]))))
        shown.append(ShownMessage(message["role"], lines, added=all(line.added for line in lines)))
    return shown


def _lines(messages: Messages) -> list[str]:
    return "\n".join(message["content"] for message in messages).split("\n")


def mark_added(old: Sequence[str], new: Sequence[str]) -> list[ShownLine]:
    """Return the new lines, marking those that the old ones lack.

    >>> [line.added for line in mark_added(["Sort it."], ["Sort it.", "A is first."])]
    [False, True]
    """
    changes = line_changes(old, new)
    return [ShownLine(text, change != "equal") for change, _, _, start, end in changes for text in new[start:end]]


def render_shown(prompt: Prompt, *, marked: bool = False) -> str:
    """Write a prompt's messages, under their roles if there are several; `marked` puts ``+`` before added lines."""
    messages = shown_messages(prompt)
    blocks = [list(message.lines) for message in messages]
    if len(messages) > 1 or messages[0].role != "user":
        blocks = [[ShownLine(f"[{message.role}]", message.added), *message.lines] for message in messages]
    is_marked = marked and any(line.added for line in itertools.chain.from_iterable(blocks))
    write = _in_margin if is_marked else attrgetter("text")
    return "\n\n".join("\n".join(map(write, lines)) for lines in blocks)


def _in_margin(line: ShownLine) -> str:
    return f"{'+' if line.added else ' '} {line.text}" if line.text else "+" * line.added
