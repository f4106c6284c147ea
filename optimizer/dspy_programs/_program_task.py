"""A program's examples as a task; where they come from one, with the labels checked against its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._examples import make_data
from psopt.errors import InputError
from psopt.tasks import ORDINAL, AnswerSpec, in_order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.dspy_programs._compilation import Compilation
    from psopt.dspy_programs._examples import Given, ProgramData
    from psopt.dspy_programs._outcome import Outcome
    from psopt.settings import DataOptions
    from psopt.tasks import Task


def told_answers(compilation: Compilation) -> AnswerSpec | None:
    """What answers are, if that was said, by the data or by the caller; an order of labels is told apart."""
    if compilation.task is not None:
        return compilation.task.spec if compilation.task.spec.is_open else None
    told = compilation.settings.data.answers
    if told is None or told == ORDINAL:
        return None
    if compilation.equivalence is not None:
        raise InputError(f"answers={told!r} says when two answers are the same, and so does equivalence: give one")
    spec = AnswerSpec.read("SensitivityOptimizer", told)
    if compilation.metric is not None and spec.measure and not spec.is_exact:
        raise InputError(f"answers={told!r} says what an answer is worth, and so does metric: give one of them")
    return spec


def program_data(
    student: Any, outcome: Outcome, splits: Mapping[str, Sequence[Given]], compilation: Compilation
) -> ProgramData:
    """Return the examples as a task; where they come from one, with the labels checked against its own."""
    instructions = dict(student.named_predictors())[outcome.step].signature.instructions
    description = " ".join(instructions.split())
    name = type(student).__name__.lower()
    data = make_data(name, description, outcome, splits, compilation.settings.rephrasings)
    like = compilation.task
    if like is None:
        return replace(data, task=_ordered(data.task, outcome, compilation.settings.data))
    if set(like.labels) != set(data.task.labels):
        raise InputError(
            f"the program's labels are {', '.join(data.task.labels)}; the data's are {', '.join(like.labels)}"
        )
    labels = like.labels if like.positions else data.task.labels
    task = replace(
        data.task,
        name=like.name,
        labels=labels,
        positions=like.positions,
        definitions=like.definitions,
        noun=like.noun,
        info=like.info,
    )
    return replace(data, task=task)


def _ordered(task: Task, outcome: Outcome, told: DataOptions) -> Task:
    """The task with its labels in the order that was told."""
    if told.answers != ORDINAL:
        return task
    if outcome.equivalence is not None:
        raise InputError("answers='ordinal' is for labels, and an equivalence for free text: give one of them")
    labels, positions = in_order("the program's labels", task.labels, told.order)
    return replace(task, labels=labels, positions=positions)
