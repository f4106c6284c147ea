"""What a signature of DSPy takes over from a template: its fields as inputs, its text as instructions."""

from __future__ import annotations

import keyword
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.search_spaces import filled_template
from psopt.templates import Field, split_description

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search_spaces import Prompt
    from psopt.templates import Message

_HOLE = "\0"  # stands for a field; no text that psopt reads holds it


def field_names(columns: Sequence[str]) -> dict[str, str]:
    """Return a name that Python takes for each column; ``label`` stays free for the output.

    >>> field_names(["subject", "e-mail body", "label"])
    {'subject': 'subject', 'e-mail body': 'e_mail_body', 'label': 'label_'}
    """
    names: dict[str, str] = {}
    for column in columns:
        name = re.sub(r"\W", "_", column)
        if not name.isidentifier():
            name = f"field_{name}"
        while name in {"label", *names.values()} or keyword.iskeyword(name):
            name += "_"
        names[column] = name
    return names


def template_instructions(prompt: Prompt) -> str:
    """Return the text of a template that tells what to do, with the prompt's definitions and notes.

    Fields, examples and the form of the answer are DSPy's to lay out. So these are left out: turns that show an answer,
    of a paragraph what follows a field, and paragraphs that ask for the answer in JSON or in a tag, unless they are
    instructions themselves.
    """
    messages = filled_template(replace(prompt, examples=())).messages
    told = [
        message
        for place, message in enumerate(messages)
        if message.role != "assistant" and not _is_answered(messages, place)
    ]
    instructions = split_description(prompt.description)
    kept = [
        paragraph
        for message in told
        for paragraph in _paragraphs(message)
        if any(part in paragraph for part in instructions) or not _fixes_the_answer(paragraph, prompt.answer)
    ]
    return "\n\n".join(kept) or prompt.description


def _is_answered(messages: Sequence[Message], place: int) -> bool:
    """Whether a message is the question of a few-shot turn."""
    return place + 1 < len(messages) and messages[place + 1].role == "assistant"


def _paragraphs(message: Message) -> list[str]:
    text = "".join(_HOLE if isinstance(piece, Field) else str(piece) for piece in message.pieces)
    whole = [paragraph for paragraph in re.split(r"\n[ \t]*\n", text) if paragraph.strip()]
    kept = [_before_fields(paragraph) for paragraph in whole]
    for place in range(len(whole) - 1, -1, -1):
        is_before_field = place + 1 < len(whole) and _HOLE in whole[place + 1] and not kept[place + 1]
        is_after_field = place > 0 and _HOLE in "".join(whole[:place])
        if is_before_field and re.fullmatch(r"#+ .*", kept[place]):
            kept[place] = ""  # a heading of nothing but fields
        elif is_after_field and re.fullmatch(r".*:\s*", kept[place]):
            kept[place] = ""  # a line that opens the answer
    return [paragraph for paragraph in kept if paragraph.strip()]


def _before_fields(paragraph: str) -> str:
    """The lines of a paragraph before its first field, without a tag that opens around that."""
    lines = paragraph.strip("\n").split("\n")
    first = next((place for place, line in enumerate(lines) if _HOLE in line), None)
    if first is None:
        return "\n".join(lines)
    before = lines[:first]
    while before and re.fullmatch(r"\s*<[^>]+>\s*", before[-1]):
        before.pop()
    return "\n".join(before)


def _fixes_the_answer(paragraph: str, answer: str) -> bool:
    """Whether a paragraph asks for JSON or a tag, where the template's answers are read from that."""
    kind, _, name = answer.partition(":")
    if kind == "json":
        return f'"{name}"' in paragraph or "JSON" in paragraph
    return kind == "xml" and f"<{name}>" in paragraph
