"""Programs as files that `program.load()` takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from psopt.dspy_programs._copying import copy_of
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._fingerprint import as_json_data
from psopt.dspy_programs._template_signature import field_names, template_instructions
from psopt.search_spaces import render_additions
from psopt.tasks import FREE, JSON, LABELS, NUMBER, TEXT, AnswerSpec, as_value

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.search_spaces import Example, Prompt

PROGRAMS = "programs"
_KINDS: dict[str, Any] = {NUMBER: float, TEXT: str, JSON: dict[str, Any], FREE: str}
"""What the output of a signature is, where there are no labels."""


def write_program(program: Any, folder: Path, prompt_id: str) -> Path:
    """Write a program's state to the run's programs/ID.json."""
    target = folder / PROGRAMS / f"{prompt_id}.json"
    target.parent.mkdir(exist_ok=True)
    try:
        program.save(target)
    except Exception:  # noqa: BLE001  # values that no JSON takes: as plain data they can be shown all the same
        plain = copy_of(program)
        for _, predictor in plain.named_predictors():
            predictor.demos = [as_json_data(dict(demo.items())) for demo in predictor.demos]
        plain.save(target)
    return target


def predict_state(prompt: Prompt) -> dict[str, Any]:
    """Return the state of a `dspy.Predict` that asks what a prompt asks.

    The inputs of its signature are the fields of the prompt's template, else one, the prompt's noun (spaces and other
    signs as underscores); its output is ``label``, a Literal of the prompt's labels, or what else answers are: a list
    of these, a number, a text.
    """
    kind: Any = _KINDS.get(prompt.asks)
    if kind is None:
        one_label: Any = Literal[prompt.labels]
        kind = list[one_label] if prompt.asks == LABELS else one_label
    inputs = _inputs(prompt)
    fields = {name: (str, dspy.InputField()) for name in inputs.values()} | {"label": (kind, dspy.OutputField())}
    program = dspy.Predict(dspy.Signature(fields, _instructions(prompt)))
    program.demos = [_demonstration(example, inputs, prompt.asks) for example in prompt.examples]
    versions = dspy.utils.saving.get_dependency_versions()  # without them `program.load` refuses the file
    state = {**program.dump_state(), "metadata": {"dependency_versions": versions}}
    plain: dict[str, Any] = json.loads(json.dumps(state, default=str))
    return plain


def _inputs(prompt: Prompt) -> dict[str, str]:
    """The signature's inputs by the columns that they are."""
    if prompt.template is None:
        return {"text": prompt.noun.replace(" ", "_")}
    return field_names(prompt.template.fields)


def _instructions(prompt: Prompt) -> str:
    if prompt.template is not None:
        return template_instructions(prompt)
    return "\n\n".join(part for part in (prompt.description, render_additions(prompt)) if part)


def _demonstration(example: Example, inputs: dict[str, str], asks: str) -> Any:
    shown = {name: example.values[column] for column, name in inputs.items() if column in example.values}
    return dspy.Example({**shown, "label": as_value(example.label, AnswerSpec.of_form(asks))})
