"""What a prompt of the user's own says of labels in its literal text, for models that read a prompt by its parts."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from psopt.search_spaces._prompt_parts import Definition
from psopt.text import statements

if TYPE_CHECKING:
    from psopt.search_spaces._prompt import Prompt
    from psopt.templates import Template
    from psopt.text import Statements

_ASSISTANT = "assistant"


def with_statements(prompt: Prompt) -> Prompt:
    """Return the prompt with the definitions and notes that its template's literal text holds among its own.

    An export is its template with edits written out: whoever reads parts alone would not see them there. A prompt in
    psopt's own form has no other text, and comes back as it is.
    """
    if prompt.template is None:
        return prompt
    said = _said(prompt.template, prompt.labels)
    meanings = {label: [text] for label, text in said.definitions}
    for definition in prompt.definitions:
        meanings.setdefault(definition.label, []).append(definition.text)
    definitions = tuple(Definition(label, "; ".join(texts)) for label, texts in meanings.items())
    return replace(prompt, definitions=definitions, notes=(*said.notes, *prompt.notes))


@lru_cache(maxsize=64)  # a search has few templates, and asks about each for every candidate
def _said(template: Template, labels: tuple[str, ...]) -> Statements:
    texts = [
        "".join(piece for piece in message.pieces if isinstance(piece, str))
        for message in template.messages
        if message.role != _ASSISTANT
    ]
    return statements("\n\n".join(texts), labels)
