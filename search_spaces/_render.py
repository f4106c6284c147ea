"""From a prompt to the messages that a chat model reads, and from a template's text to what it says about labels."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from psopt.search_spaces._prompt_parts import Definition, in_order
from psopt.tasks import FREE, JSON, LABEL, LABELS, NUMBER, TEXT, fields_of
from psopt.templates import Additions, Messages, render_template
from psopt.text import statements

if TYPE_CHECKING:
    from psopt.search_spaces._prompt_parts import Example, P, PromptFormat, PromptParts
    from psopt.templates import Piece, Template
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


def render(prompt: PromptParts, text: str) -> Messages:
    """Render a prompt and the text to classify as chat messages.

    A prompt that came as the user's own template is that template, filled; a text that is a `Row` brings its fields. In
    psopt's own form the text comes last, so that prefix caching in servers pays off, and it is pasted unchanged: braces
    or anything else in it have no meaning here. Examples are turns before it, asked and answered in the same form as
    the text: measured on real models, turns make answers more stable than the same examples in one message
    (`experiments/example_turns.py`).

    Examples
    --------
    >>> from psopt.search_spaces import Prompt
    >>> messages = render(Prompt("Judge the review.", ("good", "bad"), noun="review"), "I {loved} it")
    >>> print(messages[1]["content"])
    Judge the review.
    Answer with exactly one of these labels and nothing else: good, bad
    <BLANKLINE>
    Review: I {loved} it
    Label:
    """
    if prompt.template is not None:
        return render_template(prompt.template, prompt.description, additions_of(prompt), fields_of(text))
    system = SYSTEM if prompt.asks in _PLACES else _SYSTEM_OF_OTHERS
    messages = [{"role": "system", "content": system}]
    opening = [*_instructions(prompt), *[""] * prompt.form.blank_lines]
    for example in _examples(prompt):
        messages.append({"role": "user", "content": "\n".join([*opening, _question(prompt, example.text)])})
        messages.append({"role": "assistant", "content": example.label})
        opening = []
    return [*messages, {"role": "user", "content": "\n".join([*opening, _question(prompt, text)])}]


def additions_of(prompt: PromptParts) -> Additions:
    """What a prompt adds to its template."""
    definitions = tuple((definition.label, definition.text) for definition in prompt.definitions)
    examples = tuple((example.values, example.label) for example in _examples(prompt))
    return Additions(definitions, prompt.notes, examples)


def _examples(prompt: PromptParts) -> list[Example]:
    """The examples in the order in which they are shown."""
    return in_order(prompt.examples, prompt.form.example_order)


def own_instructions(prompt: PromptParts) -> str:
    """Render everything that stands before the text to classify in psopt's own form, as one text.

    Models get the examples as turns instead (`render`).
    """
    examples = [f"{_question(prompt, example.text)} {example.label}" for example in _examples(prompt)]
    return "\n".join([*_instructions(prompt), *_part(prompt.form, "Examples:", examples)])


def _instructions(prompt: PromptParts) -> list[str]:
    form = prompt.form
    asking = _ASKING[prompt.asks]
    if prompt.labels:
        asking += form.separator + form.listing.join(in_order(prompt.labels, form.label_order))
    return [prompt.description, *filter(None, [asking]), *_additions(prompt)]


def render_additions(prompt: PromptParts) -> str:
    """Render what a prompt adds to its description: definitions and notes."""
    return "\n".join(_additions(prompt)).strip("\n")


def _additions(prompt: PromptParts) -> list[str]:
    form = prompt.form
    definitions = [f"{definition.label}{form.separator}{definition.text}" for definition in prompt.definitions]
    lines = _part(form, "What the labels mean:", form.bulleted(definitions))
    return lines + _part(form, "Note:", form.bulleted(prompt.notes))


def _part(form: PromptFormat, heading: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return [*[""] * form.blank_lines, form.heading(heading), *lines]


def _question(prompt: PromptParts, text: str) -> str:
    form = prompt.form
    label = form.heading(_PLACES.get(prompt.asks, "Answer")) + form.separator.rstrip()
    return f"{form.heading(prompt.noun.capitalize())}{form.separator}{text}\n{label}"


def with_statements(prompt: P) -> P:
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
    texts = ["".join(map(_literal, pieces)) for pieces in spoken]
    return statements("\n\n".join(texts), labels)


def _literal(piece: Piece) -> str:
    return piece if isinstance(piece, str) else ""
