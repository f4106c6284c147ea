"""From a prompt to the messages that a chat model reads, and to what people read: fields open, additions marked."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from psopt.search_spaces._prompt_parts import Definition, in_order
from psopt.tasks import FREE, JSON, LABEL, LABELS, NUMBER, TEXT, Row, fields_of
from psopt.templates import Additions, Messages, fill_slots, render_template
from psopt.text import line_changes, statements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search_spaces._prompt import Prompt
    from psopt.search_spaces._prompt_parts import Example, PromptFormat
    from psopt.templates import Template
    from psopt.text import Statements

SYSTEM = "You are a text classifier."
_SYSTEM_OF_OTHERS = "You read texts and answer precisely."
# What a prompt asks for in psopt's own form, and the word before the place for the answer.
_ASKING = {
    LABEL: "Answer with exactly one of these labels and nothing else",
    LABELS: "Answer with a JSON list of all of these labels that apply, and nothing else",
    NUMBER: "Answer with a number and nothing else.",
    TEXT: "Answer in a few words and say nothing else.",
    JSON: "Answer in JSON and say nothing else.",
    FREE: "",
}
_PLACES = {LABEL: "Label", LABELS: "Labels"}


def render(prompt: Prompt, text: str) -> Messages:
    """Render a prompt and the text to classify as chat messages.

    A prompt that came as the user's own template is that template, filled; a text that is a `Row` brings its fields. In
    psopt's own form the text comes last, so that prefix caching in servers pays off, and it is pasted unchanged: braces
    or anything else in it have no meaning here. Examples are turns before it, asked and answered in the same form as
    the text: measured on real models, turns make answers more stable than the same examples in one message
    (`experiments/example_turns.py`).
    """
    if prompt.template is not None:
        return render_template(prompt.template, prompt.description, additions_of(prompt), fields_of(text))
    system = SYSTEM if prompt.asks in _PLACES else _SYSTEM_OF_OTHERS
    turns = [("system", system)]
    for example in _examples(prompt):
        turns += [("user", _question(prompt, example.text)), ("assistant", example.label)]
    turns.append(("user", _question(prompt, text)))
    turns[1] = ("user", "\n".join([*_instructions(prompt), *[""] * prompt.form.blank_lines, turns[1][1]]))
    return [{"role": role, "content": content} for role, content in turns]


def additions_of(prompt: Prompt) -> Additions:
    """What a prompt adds to its template."""
    definitions = tuple((definition.label, definition.text) for definition in prompt.definitions)
    examples = tuple((example.values, example.label) for example in _examples(prompt))
    return Additions(definitions, prompt.notes, examples)


def _examples(prompt: Prompt) -> list[Example]:
    """The examples in the order in which they are shown."""
    return in_order(prompt.examples, prompt.form.example_order)


def own_instructions(prompt: Prompt) -> str:
    """Render all before the text to classify in psopt's own form, as one text; models get the examples as turns."""
    examples = [f"{_question(prompt, example.text)} {example.label}" for example in _examples(prompt)]
    return "\n".join([*_instructions(prompt), *_part(prompt.form, "Examples:", examples)])


def _instructions(prompt: Prompt) -> list[str]:
    form = prompt.form
    asking = _ASKING[prompt.asks]
    if prompt.labels:
        asking += form.separator + form.listing.join(in_order(prompt.labels, form.label_order))
    return [prompt.description, *filter(None, [asking]), *_additions(prompt)]


def render_additions(prompt: Prompt) -> str:
    """Render what a prompt adds to its description: definitions and notes."""
    return "\n".join(_additions(prompt)).strip("\n")


def _additions(prompt: Prompt) -> list[str]:
    form = prompt.form
    definitions = [f"{definition.label}{form.separator}{definition.text}" for definition in prompt.definitions]
    lines = _part(form, "What the labels mean:", form.bulleted(definitions))
    return lines + _part(form, "Note:", form.bulleted(prompt.notes))


def _part(form: PromptFormat, heading: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return [*[""] * form.blank_lines, form.heading(heading), *lines]


def _question(prompt: Prompt, text: str) -> str:
    form = prompt.form
    label = form.heading(_PLACES.get(prompt.asks, "Answer")) + form.separator.rstrip()
    return f"{form.heading(prompt.noun.capitalize())}{form.separator}{text}\n{label}"


def with_statements(prompt: Prompt) -> Prompt:
    """Return the prompt with the definitions and notes in its template's literal text added to its own.

    An export is a template with edits written out: reading only the parts would miss them. A prompt in psopt's own form
    has no other text, and is returned unchanged.
    """
    if prompt.template is None:
        return prompt
    literal = _literal_statements(prompt.template, prompt.labels)
    meanings = {label: [text] for label, text in literal.definitions}
    for definition in prompt.definitions:
        meanings.setdefault(definition.label, []).append(definition.text)
    definitions = tuple(Definition(label, "; ".join(texts)) for label, texts in meanings.items())
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


def filled_template(prompt: Prompt) -> Template:
    """Return a prompt's template with its additions and open fields; raises ValueError for psopt's own form."""
    if prompt.template is None:
        raise ValueError("a prompt of psopt's own form has no template")
    return fill_slots(prompt.template, prompt.description, additions_of(prompt))


def open_messages(prompt: Prompt) -> Messages:
    """Return a prompt's messages with their fields open, as they were spelled; in psopt's own form ``{text}``."""
    if prompt.template is None:
        return render(prompt, "{text}")
    messages = filled_template(prompt).messages
    return [{**message.head, "content": "".join(map(str, message.pieces))} for message in messages]


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
    if not line.text:
        return "+" * line.added
    return f"{'+' if line.added else ' '} {line.text}"
