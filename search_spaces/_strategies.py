"""The paper's three prompting strategies: the original prompt that a search starts from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import InputError, UnknownNameError
from psopt.search_spaces._prompt import Prompt
from psopt.search_spaces._prompt_parts import Definition, Example

if TYPE_CHECKING:
    from psopt.tasks import Task

STRATEGIES = ("simple", "detail", "1-shot")


def seed_prompt(task: Task, strategy: str = "simple", *, seed: int = 42) -> Prompt:
    """Build the prompt that a strategy makes from a task.

    ``simple`` is the description and the class list; ``detail`` adds what each class means; ``1-shot`` adds to *simple*
    one example of each class, drawn from train. Raises UnknownNameError if there is no such strategy. Raises InputError
    if the task lacks what it needs.
    """
    if strategy not in STRATEGIES:
        raise UnknownNameError("strategy", strategy, STRATEGIES)
    prompt = Prompt(task.description, task.labels, task.noun, asks=task.spec.form)
    if strategy == "detail":
        return replace(prompt, definitions=_all_definitions(task))
    if strategy == "1-shot":
        return replace(prompt, examples=_one_of_each(task, seed))
    return prompt


def _all_definitions(task: Task) -> tuple[Definition, ...]:
    missing = [label for label in task.labels if label not in task.definitions]
    if not task.labels:
        raise InputError(f"strategy 'detail' says what each label means, and answers are {task.spec.kind}: take simple")
    if missing:
        raise InputError(
            f"strategy 'detail' needs a definition of every class, and {missing[0]!r} has none: "
            "add a [definitions] table to the task file"
        )
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
