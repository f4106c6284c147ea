"""What a program is compiled with, and what that finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._lm import counted_lm, is_free, without_cache

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from psopt.dspy_programs._metric import Metric
    from psopt.dspy_programs._outcome import Equivalence
    from psopt.models import ModelProvider
    from psopt.runs import Run, RunSettings
    from psopt.search import Observer
    from psopt.tasks import Task


@dataclass(frozen=True, eq=False, kw_only=True)
class Compilation:
    """What a program is compiled with."""

    # As run.json keeps them. Of a program that was given in Python the data set, the model and the number of samples
    # are filled in.
    settings: RunSettings
    models: ModelProvider
    # None: the one of DSPy's settings, rules, none, rules
    task_model: Any
    rephraser: Any
    judge: Any
    proposer: Any
    uses_engine: bool  # whether a `dspy.LM` too is asked through psopt's engine; one that is given by name always is
    n_threads: int
    observer: Observer
    # The run directory; a run that is there already is resumed, if `force` also one that differs
    folder: Path | None = None
    force: bool = False
    task: Task | None = None  # where the examples come from; the run has its name, its definitions and its origin
    label_field: str | None = None
    metric: Metric | None = None
    equivalence: Equivalence | None = None
    teacher: Any = None
    max_errors: int = 0  # on how many texts the program, or the metric, may fail
    # How many calls of language models the sizes are to be chosen by; None where the settings have them
    most_calls: int | None = None

    def as_asked(self, lm: Any) -> Any:
        """A language model as it is asked: through psopt's engine, or at least without DSPy's cache."""
        if isinstance(lm, str) or (self.uses_engine and not is_free(lm)):
            return counted_lm(lm, self.models)
        return without_cache(lm)


@dataclass(frozen=True, eq=False)
class Compiled:
    """What a compilation has found."""

    run: Run
    programs: Mapping[str, Any]  # of the baseline, the front, the shortest and the recommended prompt
    sensitivity_by_step: dict[str, float]
    failures: dict[str, str]  # the first error of each text that the program, or the metric, failed on
