"""The inputs of a program's compilation, and its results."""

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
    """The inputs of a program's compilation."""

    # As in run.json. For a program that was given in Python the data set, the model and the number of samples are
    # filled in.
    settings: RunSettings
    models: ModelProvider
    # None: the model of DSPy's settings, rules, none, rules
    task_model: Any
    rephraser: Any
    judge: Any
    proposer: Any
    uses_engine: bool  # whether even a `dspy.LM` is asked through psopt's engine; named ones always are
    n_threads: int
    observer: Observer
    # The run directory; an existing run is resumed, with `force` even one that differs
    folder: Path | None = None
    force: bool = False
    task: Task | None = None  # the source of the examples; the run takes its name, definitions and origin
    label_field: str | None = None
    metric: Metric | None = None
    equivalence: Equivalence | None = None
    teacher: Any = None
    max_errors: int = 0  # on how many texts the program or the metric may fail
    # The number of language model calls for which sizes are chosen; None if the settings have sizes
    most_calls: int | None = None

    def as_asked(self, lm: Any) -> Any:
        """A language model in the form it is asked: through psopt's engine, or at least without DSPy's cache."""
        if isinstance(lm, str) or (self.uses_engine and not is_free(lm)):
            return counted_lm(lm, self.models)
        return without_cache(lm)


@dataclass(frozen=True, eq=False)
class Compiled:
    """The result of a compilation."""

    run: Run
    programs: Mapping[str, Any]  # for the baseline, the front, the shortest and the recommended prompt
    sensitivity_by_step: dict[str, float]
    failures: dict[str, str]  # the first error of each text on which the program or the metric failed
