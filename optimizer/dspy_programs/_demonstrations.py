"""Demonstrations: the inputs and answers of each step of a program on the way to a right outcome."""

from __future__ import annotations

import contextlib
from itertools import chain
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._contents import digest
from psopt.dspy_programs._copying import copy_of
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._examples import example_key
from psopt.dspy_programs._fingerprint import Fingerprint, as_json_data
from psopt.dspy_programs._runner import run_in_threads
from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.dspy_programs._runner import ProgramRunner, Record

_STEP = "_psopt_step"
"""The attribute for a predictor's name: modules that run copies of others (BestOfN, Refine) copy it as well."""


class Demonstrator:
    """Turns examples into demonstrations, completed with the answers of a teacher, or the program, at every step."""

    def __init__(self, program: Any, teacher: Any, runner: ProgramRunner) -> None:
        self._fields = {
            step: {**predictor.signature.input_fields, **predictor.signature.output_fields}
            for step, predictor in program.named_predictors()
        }
        self._teacher = teacher or program
        self._taught_by = "" if teacher is None else digest(teacher)
        self._runner = runner

    @property
    def needs_traces(self) -> bool:
        """Whether demonstrations show something that examples alone lack."""
        example = next(iter(self._runner.examples.values()))
        return any(name not in example for name in chain.from_iterable(self._fields.values()))

    def demonstration(self, step: str, text: str) -> Any:
        """A dspy.Example for a step; None if the teacher does not reach the right outcome by itself.

        Values have the types of the step's fields, as in DSPy's own demonstrations.
        """
        example = self._runner.examples[text]
        if all(name in example for name in self._fields[step]):
            return dspy.Example({name: example[name] for name in self._fields[step]})
        steps = self._trace(text)["steps"]
        if step not in steps:
            return None
        return dspy.Example(augmented=True, **_typed(steps[step], self._fields[step]))

    def _trace(self, text: str) -> Record:
        """What each step read and answered on the way to the right outcome; no steps if it was wrong."""
        kind = f"trace {self._runner.judged_by} {self._taught_by}".rstrip()
        key = Fingerprint.of(self._teacher).key(example_key(self._runner.examples[text]), kind)
        traces = self._runner.records.get_many([key])
        if key not in traces:

            def keep() -> None:
                traces[key] = self._traced_steps(text)
                self._runner.records.put(key, traces[key])

            run_in_threads([keep], 1, None)  # as all runs: an asynchronous program can't run in a notebook's own thread
        return traces[key]

    def _traced_steps(self, text: str) -> Record:
        program = self._runner.prepare(copy_of(self._teacher))
        for step, predictor in program.named_predictors():
            setattr(predictor, _STEP, step)
        with dspy.context(trace=[]):
            record = self._runner.run(program, text)
            trace = list(dspy.settings.trace or ())
        if record.get("failed"):
            return {"steps": {}, "failed": True}
        if not self._runner.is_right(record, text):
            return {"steps": {}}
        named = [(getattr(predictor, _STEP, None), inputs, outputs) for predictor, inputs, outputs in trace]
        steps = {step: as_json_data({**inputs, **dict(outputs.items())}) for step, inputs, outputs in named if step}
        return {"steps": steps}


def _typed(values: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Values stored as JSON, converted back to their fields' types; unchanged if that fails."""
    typed: dict[str, Any] = {}
    for name, value in values.items():
        typed[name] = value
        if name in fields:
            with contextlib.suppress(ValueError, TypeError):
                typed[name] = TypeAdapter(fields[name].annotation).validate_python(value)
    return typed
