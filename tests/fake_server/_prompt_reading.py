"""From chat messages in psopt's own form back to the prompt."""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.search_spaces import Prompt

ASK = "Answer with exactly one of these labels and nothing else: "
_LABELS = re.compile(rf"^{re.escape(ASK)}(.*)$", re.MULTILINE)
_DSPY_FIELD = re.compile(r"starting with the field `\[\[ ## (\w+) ## \]\]`")
_DSPY_LABELS = re.compile(r"\(must be formatted as a valid Python Literal(\[.*?\])\)")
_SECTION = re.compile(r"\n\n(What the labels mean:|Note:)\n(- .*?)(?=\n\n)", re.DOTALL)


def listed_labels(message: str) -> list[str]:
    """The labels that a rendered prompt lists, or that a DSPy program's signature allows."""
    if line := _LABELS.search(message):
        return line.group(1).split(", ")
    literal = _DSPY_LABELS.search(message)
    return list(ast.literal_eval(literal.group(1))) if literal else []


def dspy_field(message: str) -> str | None:
    """The output field that a DSPy program asks for."""
    field = _DSPY_FIELD.search(message)
    return field.group(1) if field else None


def read_prompt(messages: Sequence[Mapping[str, Any]], labels: tuple[str, ...] = ()) -> tuple[Prompt, str]:
    r"""Take rendered messages apart into the prompt and the text: `search_spaces.render` undone.

    Texts and notes may have several lines, and answers to examples may be JSON; where the labels are known, the line
    that lists them does not tell about commas in them.

    >>> asked = f"Judge it.\n{ASK}good, bad\n\nNote:\n- Dull is bad\n\nReview: So\n\nlong!\nLabel:"
    >>> prompt, text = read_prompt([{"role": "user", "content": asked}])
    >>> prompt.description, prompt.notes, prompt.noun, text
    ('Judge it.', ('Dull is bad',), 'review', 'So\n\nlong!')
    """
    from psopt.search_spaces import Definition, Example, Prompt

    first, *others = [text_of(turn) for turn in messages if turn.get("role") == "user"]
    label_line = _LABELS.search(first)
    if label_line is None:
        raise ValueError("the message lists no labels")
    labels = labels or tuple(listed_labels(first))
    rest = first[label_line.end() :]
    items: dict[str, list[str]] = {}
    while section := _SECTION.match(rest):
        items[section.group(1)] = section.group(2).removeprefix("- ").split("\n- ")
        rest = rest[section.end() :]
    meanings = [line.partition(": ") for line in items.get("What the labels mean:", [])]
    rest = rest.removeprefix("\n\n")
    noun = rest.partition(": ")[0]
    *shown, text = [asked.removeprefix(f"{noun}: ").removesuffix("\nLabel:") for asked in (rest, *others)]
    answers = [_label(text_of(turn)) for turn in messages if turn.get("role") == "assistant"]
    prompt = Prompt(
        description=first[: label_line.start()].removesuffix("\n"),
        labels=labels,
        noun=noun.lower(),
        definitions=tuple(Definition(label, meaning) for label, _, meaning in meanings),
        notes=tuple(items.get("Note:", [])),
        examples=tuple(map(Example, shown, answers)),
    )
    return prompt, text


def _label(answer: str) -> str:
    return str(json.loads(answer)["label"]) if answer.startswith('{"label"') else answer


def text_of(message: Mapping[str, Any]) -> str:
    """A message's content, which may be a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")
