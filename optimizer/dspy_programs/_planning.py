"""How large a compilation is, said before its first call; what its final test takes is held back from then on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._sizing import calls_expected, calls_to_hold_back, sizes_within
from psopt.models.chat import Need
from psopt.runs.planning import Sizes, sized
from psopt.tasks import FREE, subset

if TYPE_CHECKING:
    from psopt.dspy_programs._compilation import Compilation
    from psopt.dspy_programs._examples import ProgramData
    from psopt.dspy_programs._outcome import Outcome

# What DSPy's BootstrapFewShotWithRandomSearch puts into a program by default (`max_labeled_demos`).
_DEMONSTRATIONS_ALLOWED = 16


def planned(
    student: Any, outcome: Outcome, data: ProgramData, compilation: Compilation
) -> tuple[Compilation, ProgramData]:
    """Choose the sizes where calls are limited, say what is expected, and hold the final test's calls back."""
    task, search = data.task, compilation.settings.search
    parts = replace(search.parts, examples_allowed=_DEMONSTRATIONS_ALLOWED)
    settings = replace(compilation.settings, search=replace(search, parts=parts))
    n_steps = len(student.named_predictors())
    races = compilation.metric is None and outcome.equivalence is None and task.spec.kind != FREE
    available = {"train": len(task.train), "val": len(task.val), "test": len(task.test)}
    budget = compilation.models.budget
    if compilation.most_calls is not None:
        sizes = sizes_within(compilation.most_calls, n_steps, available, races=races)
        settings = sized(settings, sizes)
        by_label = not task.spec.is_open
        drawn: dict[str, Any] = {
            split: subset(getattr(task, split), getattr(sizes, split), seed=settings.seed, by_label=by_label)
            for split in available
        }
        task = replace(task, **drawn)
    else:
        sizes = Sizes(
            **available,
            rephrasings=settings.rephrasings,
            heldout=settings.heldout,
            trials=search.trials,
            rounds=search.rounds,
        )
    expected = calls_expected(sizes, n_steps, races=races)
    compilation.observer.phase(expected.line)
    if budget.max_calls is not None and expected.total > budget.max_calls:
        compilation.observer.phase(f"max_calls={budget.max_calls} is below that, and ends the search before")
    n_wordings = len(settings.heldout_from)
    budget.held_back = Need(calls_to_hold_back(sizes, n_steps, budget.max_calls, n_other_wordings=n_wordings))
    return replace(compilation, settings=settings), replace(data, task=task)
