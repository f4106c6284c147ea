"""Compilations in little, and what tests look at beside the program that comes back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
from psopt import SensitivityOptimizer
from psopt.search import Observer

from tests.dspy_programs.keyword_lm import keyword_lm
from tests.dspy_programs.programs_to_mend import examples

TRAIN, VAL, TEST = examples(0, 5), examples(5, 5), examples(10, 5)
SETS = TRAIN, VAL, TEST[:6]
FEW = examples(0, 3), examples(5, 3)


class Listener(Observer):
    """Keeps what is said of phases."""

    def __init__(self) -> None:
        self.phases: list[str] = []

    def phase(self, what: str) -> None:
        self.phases.append(what)


def compiled(
    program: Any,
    folder: Path,
    model: Any = None,
    sets: Any = SETS,
    heard: Any = None,
    teacher: Any = None,
    **options: Any,
) -> Any:
    """Compile with few examples, which would let nothing pass the gate: the knee, unless the options say otherwise.

    The sets are for training, for comparing and, where there is a third, for the test.
    """
    given = {"num_trials": 2, "num_rephrasings": 2, "num_threads": 2, "gate": "off", "log_dir": folder / "run"}
    named = dict(zip(("trainset", "valset", "testset"), sets, strict=False))
    with dspy.context(lm=model or keyword_lm()):
        optimizer = SensitivityOptimizer(**{**given, **options})
        return optimizer.compile(program, observer=heard, teacher=teacher, **named)


def manifest(better: Any) -> Any:
    """What the run of a compilation has written down."""
    return json.loads((better.run.path / "run.json").read_text("utf-8"))


def examples_offered(better: Any) -> list[Any]:
    """The demonstrations that a compilation had to choose from."""
    pool = json.loads((better.run.path / "proposals.json").read_text("utf-8"))["edits"]
    return [edit for edit in pool if edit["kind"] == "example"]
