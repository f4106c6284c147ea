"""Demonstrations: the inputs and answers of each step of a program on the way to a right outcome."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._contents import digest
from psopt.dspy_programs._copying import copy_of
from psopt.dspy_programs._dspy import dspy
from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.dspy_programs._runner import ProgramRunner


class Demonstrator:
    """Turns examples into demonstrations, completed with the answers of a teacher, or the program, at every step."""

    def __init__(self, program: Any, teacher: Any, runner: ProgramRunner) -> None:
        self._teacher = copy_of(teacher or program)
        self._code = "" if teacher is None else digest(teacher)
        self._runner = runner
        self._steps: dict[str, Mapping[str, Any]] = {}  # by text

    def demonstration(self, step: str, text: str) -> Any:
        """A dspy.Example for a step; None if the teacher does not reach the right outcome by itself.

        Values have the types of the step's fields, as in DSPy's own demonstrations.
        """
        example, fields = self._runner.examples[text], self._runner.fields[step]
        if all(name in example for name in fields):
            return dspy.Example({name: example[name] for name in fields})
        if text not in self._steps:
            record = self._runner.records_of([self._teacher], [text], code=self._code)[0, 0]
            self._steps[text] = record.get("steps", {}) if self._runner.is_right(record, text) else {}
        if step not in self._steps[text]:
            return None
        return dspy.Example(augmented=True, **_typed(self._steps[text][step], fields))


def _typed(values: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Values stored as JSON, converted back to their fields' types; unchanged if that fails."""
    typed: dict[str, Any] = {}
    for name, value in values.items():
        typed[name] = value
        if name in fields:
            with contextlib.suppress(ValueError, TypeError):
                typed[name] = TypeAdapter(fields[name].annotation).validate_python(value)
    return typed
