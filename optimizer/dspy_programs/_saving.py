"""Programs as files that `program.load()` takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from psopt.dspy_programs._dspy import dspy
from psopt.search_spaces import render_additions

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.search_spaces import Prompt

PROGRAMS = "programs"


def write_program(program: Any, folder: Path, prompt_id: str) -> Path:
    """Write a program's state to the run's programs/ID.json."""
    target = folder / PROGRAMS / f"{prompt_id}.json"
    target.parent.mkdir(exist_ok=True)
    program.save(target)
    return target


def predict_state(prompt: Prompt) -> dict[str, Any]:
    """Return the state of a `dspy.Predict` that asks what a prompt asks.

    Its signature has one input, the prompt's noun (spaces as underscores), and the output ``label``, a Literal of the
    prompt's labels.
    """
    noun = prompt.noun.replace(" ", "_")
    instructions = "\n\n".join(part for part in (prompt.description, render_additions(prompt)) if part)
    kind: Any = Literal[prompt.labels]
    fields = {noun: (str, dspy.InputField()), "label": (kind, dspy.OutputField())}
    program = dspy.Predict(dspy.Signature(fields, instructions))
    program.demos = [dspy.Example({noun: example.text, "label": example.label}) for example in prompt.examples]
    versions = dspy.utils.saving.get_dependency_versions()  # without them `program.load` refuses the file
    state = {**program.dump_state(), "metadata": {"dependency_versions": versions}}
    plain: dict[str, Any] = json.loads(json.dumps(state, default=str))
    return plain
