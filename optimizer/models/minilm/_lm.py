"""minilm as a language model for DSPy: an engine that reads the messages of DSPy's adapters and answers in their form.

It fills outputs with fixed values (Literal, Enum, bool) as the task model minilm would, and any other with the first
words of the inputs. So DSPy programs run offline, free and deterministically. Their answers
change with the prompt, as with a language model; but it is not one.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.errors import ModelError, import_extra
from psopt.models.minilm._model import MiniLM
from psopt.search_spaces import Definition, Example, Prompt
from psopt.tasks import read_bundled
from psopt.text import FUNCTION_WORDS, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_N_WORDS = 2  # of the inputs, in an output without fixed values


def minilm_lm(reference_texts: Sequence[str] = (), *, cache_dir: Path | None = None, **settings: Any) -> Any:
    """Make a `dspy.LM` from the embedded model.

    Raises MissingExtraError if dspy or torch is not installed.

    Parameters
    ----------
    reference_texts : sequence of str, optional
        Unlabelled texts of the task, 20 or more: what is common to them is ignored. By default the questions in psopt's
        bundled sample of TREC, which suits questions best.
    cache_dir : Path, optional
        Where embeddings are kept between runs.
    **settings
        For `dspy.LM`, such as ``cache``.
    """
    dspy = import_extra("dspy", "minilm_lm", "dspy")
    engine = MiniLMEngine(reference_texts, cache_dir=cache_dir)
    async_engine = AsyncMiniLMEngine(reference_texts, cache_dir=cache_dir)
    return dspy.LM("psopt/minilm", engine=engine, async_engine=async_engine, **settings)


class MiniLMEngine:
    """Answers requests that DSPy's ChatAdapter or JSONAdapter made; see `minilm_lm`."""

    def __init__(self, reference_texts: Sequence[str] = (), *, cache_dir: Path | None = None) -> None:
        self._reference = tuple(reference_texts) or tuple(sample.text for sample in read_bundled("trec")[0])
        self._model = MiniLM(self._reference, cache_dir=cache_dir)
        self._lock = threading.Lock()

    def dump_state(self) -> dict[str, Any]:
        """Return what makes up the engine, as JSON data."""
        return {"reference_texts": list(self._reference)}

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> MiniLMEngine:
        return cls(state["reference_texts"])

    def complete(self, request: Any) -> Any:
        """Answer one request (an `lm15.Request`) with an `lm15.Response`."""
        from dspy import lm15

        text = self.answer(read_request(request))
        size = len(str(request.system)) + sum(len(_spoken(message.parts)) for message in request.messages)
        return lm15.Response(
            id=None,
            model=request.model,
            message=lm15.Message(role="assistant", parts=(lm15.TextPart(text),)),
            finish_reason="stop",
            usage=lm15.Usage(input_tokens=size // 4, output_tokens=len(text) // 4),
        )

    def answer(self, reading: Reading) -> str:
        with self._lock:
            values = {field.name: self._value(field, reading) for field in reading.outputs}
        if reading.as_json:
            return json.dumps(values, ensure_ascii=False)
        parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
        return "\n\n".join([*parts, "[[ ## completed ## ]]"])

    def _value(self, field: Field, reading: Reading) -> str:
        if not field.labels:
            content_words = [word for word in words_of(reading.text) if word not in FUNCTION_WORDS]
            phrase = " ".join(content_words[:_N_WORDS]) or reading.text.strip() or "nothing"
            return f"It is about {phrase}." if field.name in {"reasoning", "rationale"} else phrase
        predicted = int(self._model.predict([reading.prompt(field)], [reading.text])[0, 0])
        return (*field.labels, "")[predicted]  # the last is N/A


class AsyncMiniLMEngine(MiniLMEngine):
    """The same for asynchronous programs; it computes, so there is nothing to wait for."""

    async def complete(self, request: Any) -> Any:
        return super().complete(request)


# The wording of DSPy 3's ChatAdapter and JSONAdapter (dspy/adapters/chat_adapter.py).
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
    """An output; `labels` are its possible values, empty where it may be anything."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    description: str  # the instructions without bulleted lines and their headings
    bullets: tuple[str, ...]  # notes and definitions
    outputs: tuple[Field, ...]
    text: str  # the inputs' values, one after the other
    noun: str  # the first input's name
    demonstrations: tuple[tuple[str, Mapping[str, str]], ...]
    as_json: bool  # whether the answer has to be a JSON object

    def prompt(self, field: Field) -> Prompt:
        """The prompt that asks for one output with fixed values."""
        labels, name = field.labels, field.name
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
    """Read an `lm15.Request` of DSPy's ChatAdapter or JSONAdapter; raises ModelError if another adapter made it."""
    system = request.system or ""
    if not isinstance(system, str):
        system = _spoken(system)
    if _INPUTS not in system or _OUTPUTS not in system or _END not in system:
        raise ModelError("minilm understands the messages of DSPy's ChatAdapter and JSONAdapter only")
    inputs = [name for name, _ in _FIELD.findall(_between(system, _INPUTS, _OUTPUTS))]
    structure, *behind = _OBJECTIVE.split(system, maxsplit=1)
    described = _FIELD.findall(_between(system, _OUTPUTS, _END))
    outputs = tuple(Field(name, _labels(name, kind, structure)) for name, kind in described)
    turns = [(message.role, _spoken(message.parts)) for message in request.messages]
    names = [field.name for field in outputs]
    demonstrations = tuple(
        (_text(question, inputs), _outputs(answer, names))
        for (role, question), (answering, answer) in itertools.pairwise(turns)
        if role == "user" and answering == "assistant"
    )
    question = turns[-1][1]
    text = _text(question.rpartition("\n\nRespond with")[0] or question, inputs)
    as_json = "Outputs will be a JSON object" in structure
    return Reading(*_instructions(*behind), outputs, text, inputs[0], demonstrations, as_json)


def _spoken(parts: Iterable[Any]) -> str:
    return "".join(part.text for part in parts)


def _instructions(objective: str = "") -> tuple[str, tuple[str, ...]]:
    """What is asked, and the bulleted lines below it; a line that ends in a colon before bullets is a heading."""
    lines = [line.strip() for line in objective.split("\n") if line.strip()]
    plain = []
    bullets = []
    for line, following in itertools.zip_longest(lines, lines[1:], fillvalue=""):
        if _BULLET.match(line):
            bullets.append(_BULLET.sub("", line))
        elif not (line.endswith(":") and _BULLET.match(following)):
            plain.append(line)
    return " ".join(plain), tuple(bullets)


def _labels(name: str, kind: str, structure: str) -> tuple[str, ...]:
    if kind.startswith("Literal["):
        return _literals(kind.removeprefix("Literal[").removesuffix("]"))
    line = next((line for line in structure.split("\n") if f"{{{name}}}" in line and "# note:" in line), "")
    if _CHOICES in line:
        choices = line.split(_CHOICES, 1)[1].rstrip().removesuffix(",").removesuffix('"')
        return tuple(map(str.strip, choices.split(";")))
    return ("True", "False") if _TRUTH in line or kind == "bool" else ()


def _literals(values: str) -> tuple[str, ...]:
    r"""The values of a Literal as Python writes them. It avoids `ast`, which is not thread-safe (3.11).

    >>> _literals(r"'it\'s', 'a, b', 3")
    ("it's", 'a, b', '3')
    """
    literals = map("".join, _LITERAL.findall(values))  # as each is in one group of three
    return tuple(re.sub(r"\\(.)", r"\1", literal) for literal in literals)


def _text(message: str, inputs: Sequence[str]) -> str:
    values = _sections(message, inputs)
    return " ".join(values[name] for name in inputs if values.get(name))


def _outputs(answer: str, outputs: Sequence[str]) -> dict[str, str]:
    try:
        data = json.loads(answer)
    except ValueError:
        return _sections(answer, [*outputs, "completed"])
    if not isinstance(data, dict):
        return {}
    return {name: str(value) for name, value in data.items()}


def _sections(message: str, names: Sequence[str]) -> dict[str, str]:
    """Values by name; only a separate line with one of these names begins a section."""
    any_name = "|".join(re.escape(name) for name in names)
    parts = re.split(rf"(?m)^\[\[ ## ({any_name}) ## \]\]\s*$", message)
    return {name: value.strip() for name, value in zip(parts[1::2], parts[2::2], strict=True)}


def _between(text: str, start: str, end: str) -> str:
    return text.split(start, 1)[1].split(end, 1)[0]
