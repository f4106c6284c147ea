"""A prompt as a value: what an optimizer changes, what it starts from, and the messages that a chat model reads."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import InputError, UnknownNameError
from psopt.notebooks import card, line, preformatted, shortened
from psopt.search_spaces._prompt_parts import PLAIN, Calibration, Definition, Example, PromptFormat, in_order
from psopt.tasks import (
    FORMS,
    FREE,
    JSON,
    LABEL,
    LABELS,
    NUMBER,
    TEXT,
    InputColumns,
    Sample,
    fields_of,
    texts_of_records,
)
from psopt.templates import Additions, Messages, Template, fill_slots, render_template

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.tasks import Task

STRATEGIES = ("simple", "detail", "1-shot")
"""The paper's three prompting strategies."""
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


@dataclass(frozen=True)  # without slots, so that its id is computed once: a search asks for it at every step
class Prompt:
    """A classification prompt, in parts, of which only the `description` is rephrased.

    Attributes
    ----------
    description : str
        The task description (rho_0, or one of its rephrasings).
    labels : tuple of str
        The classes, in the order in which they are listed.
    noun : str
        What one sample is called: ``text``, ``question``.
    definitions : tuple of Definition
        What labels mean; a label may have none.
    notes : tuple of str
        Clarifying sentences.
    examples : tuple of Example
        Few-shot examples, in the order in which they are shown.
    form : PromptFormat
        Layout and orders.
    template : Template or None
        The user's own messages, if the prompt came as such; None for psopt's own form.
    asks : str
        What is asked for: ``label``, ``labels``, ``number``, ``text`` or ``json`` (`AnswerSpec.form`).
    calibration : Calibration or None
        How the label prior is taken out of the model's decisions, if it is.
    asking : int
        The number of a repeated call with the same prompt: each has its own seed, and its own answer in the cache. Not
        part of what a prompt says, so neither of its `id` nor of its JSON.
    original : Prompt or None
        The prompt that this one rewords (`described_as`), if it does; no part of its `id`, its JSON or comparisons.
    """

    description: str
    labels: tuple[str, ...]
    noun: str = "text"
    definitions: tuple[Definition, ...] = ()
    notes: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    form: PromptFormat = PLAIN
    template: Template | None = None
    asks: str = LABEL
    calibration: Calibration | None = None
    asking: int = 0
    original: Prompt | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """The id, the beginning, and how much it holds: prompts with examples would fill screens."""
        parts = {"label": self.labels, "definition": self.definitions, "note": self.notes, "example": self.examples}
        counts = ", ".join(f"{len(part)} {name}{'s' * (len(part) != 1)}" for name, part in parts.items() if part)
        return f"<Prompt {self.id}: {shortened(self.description, 60)!r}{'; ' * bool(counts)}{counts}>"

    def _repr_html_(self) -> str:
        """The messages that a model gets, with the place of the text left open, for notebooks."""
        shown = [line(message["role"]) + preformatted(message["content"]) for message in open_messages(self)]
        return card(f"Prompt {self.id}", *shown)

    @property
    def answer(self) -> str:
        """How an answer is read: ``label``, or as the template says."""
        return self.template.answer if self.template else "label"

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that the template names; psopt's own form names none."""
        return self.template.fields if self.template else ()

    @cached_property
    def id(self) -> str:
        """Twelve hexadecimal digits that name this prompt: equal prompts have equal ids, on any machine."""
        data = self.to_dict()
        if self.template:
            del data["template"]["origin"]  # the same messages are the same prompt, whichever file they came in
        if self.calibration:
            data["calibration"] = Calibration().to_dict(())  # what was measured is not part of what the prompt says
        canonical = json.dumps(data, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(canonical.encode()).hexdigest()[:12]

    def described_as(self, description: str, form: PromptFormat | None = None) -> Prompt:
        """Return the same prompt with its task description reworded, and on request in another format."""
        if description == self.description and form in {None, self.form}:
            return self
        return replace(
            self.without_prior(), description=description, form=form or self.form, original=self.original or self
        )

    def without_prior(self) -> Prompt:
        """Return the same prompt, whose label prior will be measured where it is used; its label map stays."""
        return replace(self, calibration=self.calibration and self.calibration.without_prior())

    def render(self, row: str | Mapping[str, Any] | Sample, *, inputs: str | Sequence[str] = ()) -> Messages:
        """Return the chat messages that a model is sent about one row.

        Parameters
        ----------
        row : str, mapping or Sample
            A text; a mapping of column to value; or a sample of a task.
        inputs : str or sequence of str
            For a mapping: the columns that the text is made of. By default those that the prompt names in braces, or
            else the column ``text`` or one with another customary name.

        Raises
        ------
        DataError
            If the row lacks a column that the prompt names, or none of its columns is known to be the text.

        Examples
        --------
        >>> prompt = Prompt("Judge the review.", ("good", "bad"), noun="review")
        >>> print(prompt.render({"text": "I loved it", "stars": 5})[1]["content"])
        Judge the review.
        Answer with exactly one of these labels and nothing else: good, bad
        <BLANKLINE>
        Review: I loved it
        Label:
        """
        record = row.text if isinstance(row, Sample) else row
        if isinstance(inputs, str):
            inputs = (inputs,)
        columns = InputColumns(tuple(inputs), self.fields, texts_alone=self.template is None)
        (text,) = texts_of_records([record], columns, source="prompt.render")
        return render(self, text)

    def to_dict(self) -> dict[str, Any]:
        """Return the prompt as plain JSON data; its format only if it is not psopt's own."""
        plain = replace(self, template=None, calibration=None, original=None)
        data: dict[str, Any] = json.loads(json.dumps(asdict(plain)))  # tuples become lists
        for example in data["examples"]:
            for optional in ("step", "fields"):
                if not example[optional]:
                    del example[optional]
        further = {
            "form": self.form.to_dict(),
            "template": self.template and self.template.to_dict(),
            "asks": self.asks if self.asks != LABEL else "",
            "calibration": self.calibration and self.calibration.to_dict(self.labels),
        }
        for name in (*further, "asking", "original"):
            del data[name]
        return data | {name: value for name, value in further.items() if value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Prompt:
        """Build a prompt from `to_dict`'s data; raises InputError if a part is missing, unknown or wrong."""
        unknown = set(data) - ({part.name for part in fields(cls)} - {"asking", "original"}) - {"measured"}
        if unknown:
            raise InputError(f"a prompt has no part {sorted(unknown)[0]!r}")
        if data.get("asks", LABEL) not in FORMS:
            raise InputError(f"a prompt asks for one of {', '.join(FORMS)}, not {data['asks']!r}")
        try:
            labels = tuple(_text(label, "labels") for label in data["labels"])
            return cls(
                description=_text(data["description"], "description"),
                labels=labels,
                noun=_text(data.get("noun", "text"), "noun"),
                definitions=tuple(Definition(**definition) for definition in data.get("definitions", ())),
                notes=tuple(_text(note, "notes") for note in data.get("notes", ())),
                examples=tuple(map(_example, data.get("examples", ()))),
                form=PromptFormat.from_dict(data.get("form", {})),
                template=Template.from_dict(data["template"]) if "template" in data else None,
                asks=data.get("asks", LABEL),
                calibration=Calibration.from_dict(data["calibration"], labels) if "calibration" in data else None,
            )
        except KeyError as error:
            raise InputError(f"a prompt needs {error.args[0]!r}") from error
        except TypeError as error:
            raise InputError(f"a prompt can't be built from these data: {error}") from error


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
    return in_order(prompt.examples, prompt.form.example_order)


def own_instructions(prompt: Prompt) -> str:
    """Render all before the text to classify in psopt's own form, as one text; models get the examples as turns."""
    examples = [f"{_question(prompt, example.text)} {example.label}" for example in _examples(prompt)]
    return "\n".join([*_instructions(prompt), *_part(prompt.form, "Examples:", examples)])


def _instructions(prompt: Prompt) -> list[str]:
    form = prompt.form
    asking = _ASKING[prompt.asks]
    if prompt.labels:
        asking += form.separator + form.listed(in_order(prompt.labels, form.label_order))
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
    return [*[""] * form.blank_lines, form.heading(heading), *lines] if lines else []


def _question(prompt: Prompt, text: str) -> str:
    form = prompt.form
    label = form.heading(_PLACES.get(prompt.asks, "Answer")) + form.separator.rstrip()
    return f"{form.heading(prompt.noun.capitalize())}{form.separator}{text}\n{label}"


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


def _example(data: Mapping[str, Any]) -> Example:
    return Example(**{**data, "fields": tuple((name, value) for name, value in data.get("fields", ()))})


def _text(value: object, part: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"a prompt's {part} must be text, not {value!r}")
    return value


def seed_prompt(task: Task, strategy: str = "simple", *, seed: int = 42) -> Prompt:
    """Build the prompt that a strategy makes from a task.

    ``simple`` is the description and the class list; ``detail`` adds what each class means; ``1-shot`` adds to *simple*
    one example of each class, drawn from train. Raises UnknownNameError if there is no such strategy, and InputError if
    the task lacks what it needs.
    """
    if strategy not in STRATEGIES:
        raise UnknownNameError("strategy", str(strategy), STRATEGIES)
    prompt = Prompt(task.description, task.labels, task.noun, asks=task.spec.form)
    if strategy == "detail":
        return replace(prompt, definitions=_all_definitions(task))
    if strategy == "1-shot":
        return replace(prompt, examples=_one_of_each(task, seed))
    return prompt


def _all_definitions(task: Task) -> tuple[Definition, ...]:
    if not task.labels:
        raise InputError(f"strategy 'detail' says what each label means, and answers are {task.spec.kind}: take simple")
    for label in task.labels:
        if label not in task.definitions:
            lacking = f"needs a definition of every class, and {label!r} has none"
            raise InputError(f"strategy 'detail' {lacking}: add a [definitions] table to the task file")
    return tuple(Definition(label, task.definitions[label]) for label in task.labels)


def _one_of_each(task: Task, seed: int) -> tuple[Example, ...]:
    rng = np.random.default_rng(seed)
    examples = []
    for label in task.classes or (None,):
        fitting = [sample for sample in task.train if label is None or sample.label == label]
        if not fitting:
            lacking = "train is empty" if label is None else f"train has none of {label!r}"
            raise InputError(f"strategy '1-shot' needs an example{' of every class' * bool(label)}, and {lacking}")
        sample = fitting[int(rng.integers(len(fitting)))]
        examples.append(Example(str(sample.text), str(sample.label)))
    return tuple(examples)
