"""What a request of DSPy's adapters asks for: inputs, outputs, instructions, demonstrations."""

from __future__ import annotations

import itertools
import json
import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.errors import ModelError
from psopt.search_spaces import Definition, Example, Prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The words of DSPy 3's ChatAdapter and JSONAdapter (dspy/adapters/chat_adapter.py).
_INPUTS = "Your input fields are:\n"
_OUTPUTS = "Your output fields are:\n"
_END = "All interactions will be structured"
_OBJECTIVE = re.compile(r"your objective is:\s*\n?", re.IGNORECASE)
_FIELD = re.compile(r"^\d+\. `([^`]+)` \((.*?)\):", re.MULTILINE)
_CHOICES = "one of: "
_TRUTH = "must be True or False"
_LITERAL = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,\s]+)""")
_BULLET = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")


@dataclass(frozen=True, slots=True)
class Field:
    """An output; `labels` are what it may be, none where it may be anything."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """A request, understood."""

    description: str  # the instructions without bulleted lines and their headings
    bullets: tuple[str, ...]  # notes and definitions
    outputs: tuple[Field, ...]
    text: str  # the inputs' values, one after the other
    noun: str  # the first input's name
    demonstrations: tuple[tuple[str, Mapping[str, str]], ...]
    as_json: bool  # whether the answer has to be a JSON object

    def prompt(self, name: str) -> Prompt:
        """The prompt that asks for one output of a class."""
        labels = next(field.labels for field in self.outputs if field.name == name)
        definitions: list[Definition] = []
        notes: list[str] = []
        for bullet in self.bullets:
            label, colon, meaning = bullet.partition(": ")
            if colon and label in labels:
                definitions.append(Definition(label, meaning))
            else:
                notes.append(bullet)
        shown = [Example(text, outputs[name]) for text, outputs in self.demonstrations if outputs.get(name) in labels]
        return Prompt(self.description, labels, self.noun, tuple(definitions), tuple(notes), tuple(shown))


def read_request(request: Any) -> Reading:
    """Read an `lm15.Request` that DSPy's ChatAdapter or JSONAdapter made.

    Raises ModelError if another adapter made it.
    """
    system = request.system if isinstance(request.system, str) else "".join(part.text for part in request.system or ())
    if _INPUTS not in system or _OUTPUTS not in system or _END not in system:
        raise ModelError("minilm understands the messages of DSPy's ChatAdapter and JSONAdapter only")
    inputs = [name for name, _ in _FIELD.findall(_between(system, _INPUTS, _OUTPUTS))]
    structure, _, objective = _split_at(system, _OBJECTIVE)
    outputs = tuple(
        Field(name, _labels(name, kind, structure)) for name, kind in _FIELD.findall(_between(system, _OUTPUTS, _END))
    )
    turns = [(message.role, "".join(part.text for part in message.parts)) for message in request.messages]
    as_json = "Outputs will be a JSON object" in structure
    demonstrations = tuple(
        (_text(question, inputs), _outputs(answer, [field.name for field in outputs]))
        for (role, question), (answering, answer) in itertools.pairwise(turns)
        if role == "user" and answering == "assistant"
    )
    question = turns[-1][1]
    question = question[: question.rfind("\n\nRespond with")] if "\n\nRespond with" in question else question
    description, bullets = _instructions(objective)
    return Reading(description, bullets, outputs, _text(question, inputs), inputs[0], demonstrations, as_json)


def _instructions(objective: str) -> tuple[str, tuple[str, ...]]:
    """What is asked, and the bulleted lines below it; a line that ends in a colon before bullets is a heading."""
    lines = [line.strip() for line in textwrap.dedent(objective).split("\n") if line.strip()]
    bulleted = [bool(_BULLET.match(line)) for line in lines]
    plain = [
        line
        for index, line in enumerate(lines)
        if not bulleted[index] and not (line.endswith(":") and index + 1 < len(lines) and bulleted[index + 1])
    ]
    bullets = tuple(_BULLET.sub("", line) for line, is_bullet in zip(lines, bulleted, strict=True) if is_bullet)
    return " ".join(plain), bullets


def _labels(name: str, kind: str, structure: str) -> tuple[str, ...]:
    if kind.startswith("Literal["):
        return _literals(kind.removeprefix("Literal[").removesuffix("]"))
    line = next((line for line in structure.split("\n") if f"{{{name}}}" in line and "# note:" in line), "")
    if _CHOICES in line:
        choices = line.split(_CHOICES, 1)[1].rstrip().removesuffix(",").removesuffix('"')
        return tuple(choice.strip() for choice in choices.split(";"))
    return ("True", "False") if _TRUTH in line or kind == "bool" else ()


def _literals(values: str) -> tuple[str, ...]:
    r"""The values of a Literal as Python writes them. Not by `ast`, which can't be used from several threads (3.11).

    >>> _literals(r"'it\'s', 'a, b', 3")
    ("it's", 'a, b', '3')
    """
    literals = [single or double or bare for single, double, bare in _LITERAL.findall(values)]
    return tuple(re.sub(r"\\(.)", r"\1", literal) for literal in literals)


def _text(message: str, inputs: Sequence[str]) -> str:
    values = _sections(message, inputs)
    return " ".join(values[name] for name in inputs if values.get(name))


def _outputs(answer: str, outputs: Sequence[str]) -> dict[str, str]:
    """The outputs of a demonstration."""
    try:
        data = json.loads(answer)
    except ValueError:
        return _sections(answer, [*outputs, "completed"])
    return {name: str(value) for name, value in data.items()} if isinstance(data, dict) else {}


def _sections(message: str, names: Sequence[str]) -> dict[str, str]:
    """Values by name; only a line of its own with one of these names begins a section."""
    any_name = "|".join(re.escape(name) for name in names)
    parts = re.split(rf"(?m)^\[\[ ## ({any_name}) ## \]\]\s*$", message)
    return {name: value.strip() for name, value in zip(parts[1::2], parts[2::2], strict=True)}


def _between(text: str, start: str, end: str) -> str:
    return text.split(start, 1)[1].split(end, 1)[0]


def _split_at(text: str, pattern: re.Pattern[str]) -> tuple[str, str, str]:
    match = pattern.search(text)
    return (text[: match.start()], match.group(), text[match.end() :]) if match else (text, "", "")
