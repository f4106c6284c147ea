"""A prompt as people read it: for a template, its messages with their fields open, and what was added to them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from psopt.search_spaces._render import additions_of, own_instructions, render
from psopt.templates import Field, fill_slots, render_template
from psopt.text import line_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search_spaces._prompt_parts import P, PromptParts
    from psopt.templates import Messages, Piece, Template


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


def render_instructions(prompt: PromptParts) -> str:
    """Render all of a prompt except the text to classify: for a template, its messages with their fields open."""
    return render_shown(prompt) if prompt.template else own_instructions(prompt)


def render_fixed(prompt: PromptParts) -> str:
    """Render what every request of a prompt contains, whatever the text: this measures the prompt's length."""
    if prompt.template is None:
        return own_instructions(prompt)
    nothing = dict.fromkeys(prompt.template.fields, "")
    messages = render_template(prompt.template, prompt.description, additions_of(prompt), nothing)
    return "\n".join(message["content"] for message in messages)


def filled_template(prompt: PromptParts) -> Template:
    """Return a prompt's template with the prompt's additions filled in and its fields open.

    Raises ValueError if the prompt has psopt's own form.
    """
    if prompt.template is None:
        raise ValueError("a prompt of psopt's own form has no template")
    return fill_slots(prompt.template, prompt.description, additions_of(prompt))


def without_additions(prompt: P) -> P:
    """Return the prompt without definitions, notes and examples: a template as its author wrote it."""
    return replace(prompt, definitions=(), notes=(), examples=())


def open_messages(prompt: PromptParts) -> Messages:
    """Return a prompt's messages with their fields open, as they were spelled; in psopt's own form ``{text}``."""
    if prompt.template is None:
        return render(prompt, "{text}")
    messages = filled_template(prompt).messages
    return [{"role": message.role, "content": "".join(map(_open, message.pieces))} for message in messages]


def _open(piece: Piece) -> str:
    if isinstance(piece, Field):
        return piece.spelled or f"{{{piece.name}}}"  # psopt added the ones without a spelling
    return str(piece)


def shown_messages(prompt: PromptParts, original: PromptParts | None = None) -> list[ShownMessage]:
    """Return the messages of a prompt with its fields open, marking the lines that the original lacks.

    By default the original is the prompt without its additions.
    """
    messages = open_messages(prompt)
    marked = iter(mark_added(_lines(open_messages(original or without_additions(prompt))), _lines(messages)))
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
    lines = []
    for change, _, _, start, end in line_changes(old, new):
        lines += [ShownLine(text, change != "equal") for text in new[start:end]]
    return lines


def render_shown(prompt: PromptParts, *, marked: bool = False) -> str:
    """Write the messages of a prompt for people: each under its role, if there is more than one.

    `marked` puts ``+`` before each added line, and indents the others by the same amount.
    """
    messages = shown_messages(prompt)
    named = len(messages) > 1 or messages[0].role != "user"
    blocks = []
    for message in messages:
        blocks.append([*message.lines])
        if named:
            blocks[-1].insert(0, ShownLine(f"[{message.role}]", message.added))
    is_marked = marked and any(line.added for line in itertools.chain.from_iterable(blocks))
    write = _in_margin if is_marked else attrgetter("text")
    return "\n\n".join("\n".join(map(write, lines)) for lines in blocks)


def _in_margin(line: ShownLine) -> str:
    if not line.text:
        return "+" * line.added
    return f"{'+' if line.added else ' '} {line.text}"
