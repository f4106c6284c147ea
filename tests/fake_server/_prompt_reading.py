"""From chat messages in psopt's own form back to the prompt."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def read_prompt(message: str, labels: tuple[str, ...] = ()) -> tuple[Prompt, str]:
    r"""Take a rendered user message apart into the prompt and the text: `search_spaces.render` undone.

    Parameters
    ----------
    message : str
        What `render` made; texts and notes may have several lines.
    labels : tuple of str
        The labels where they are known: the line that lists them does not tell about commas in them.

    >>> prompt, text = read_prompt(f"Judge it.\n{ASK}good, bad\n\nNote:\n- Dull is bad\n\nReview: So\n\nlong!\nLabel:")
    >>> prompt.description, prompt.notes, prompt.noun, text
    ('Judge it.', ('Dull is bad',), 'review', 'So\n\nlong!')
    """
    from psopt.search_spaces import Definition, Example, Prompt

    label_line = _LABELS.search(message)
    if label_line is None:
        raise ValueError("the message lists no labels")
    labels = labels or tuple(listed_labels(message))
    rest = message[label_line.end() :]
    items: dict[str, list[str]] = {}
    while section := _SECTION.match(rest):
        items[section.group(1)] = section.group(2).removeprefix("- ").split("\n- ")
        rest = rest[section.end() :]
    meanings = [line.partition(": ") for line in items.get("What the labels mean:", [])]
    noun, examples, text = _read_questions(rest, labels)
    prompt = Prompt(
        description=message[: label_line.start()].removesuffix("\n"),
        labels=labels,
        noun=noun.lower(),
        definitions=tuple(Definition(label, meaning) for label, _, meaning in meanings),
        notes=tuple(items.get("Note:", [])),
        examples=tuple(Example(example, label) for example, label in examples),
    )
    return prompt, text


def _read_questions(rest: str, labels: tuple[str, ...]) -> tuple[str, list[tuple[str, str]], str]:
    """Read the noun, the examples as (text, label) pairs, and the text to classify."""
    rest = rest.removeprefix("\n\n")
    heading = "Examples:\n"
    has_examples = rest.startswith(heading)
    rest = rest.removeprefix(heading)
    noun = rest.partition(": ")[0]
    examples = []
    name = re.escape(noun)
    answer = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    example = re.compile(rf"{name}: (.*?)\nLabel: ({answer})(\n\n?)(?={name}: )", re.DOTALL)
    while has_examples and (match := example.match(rest)):
        examples.append((match.group(1), match.group(2)))
        rest = rest[match.end() :]
        has_examples = match.group(3) == "\n"
    return noun, examples, rest.removeprefix(f"{noun}: ").removesuffix("\nLabel:")
