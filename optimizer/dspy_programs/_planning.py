"""How large a compilation is, said before its first call; what its final test takes is held back from then on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._sizing import calls_expected, calls_to_hold_back, sizes_within
from psopt.models.chat import Need
from psopt.runs.planning import Sizes, sized
from psopt.tasks import FREE, subset

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.dspy_programs._compilation import Compilation
    from psopt.dspy_programs._examples import ProgramData
    from psopt.dspy_programs._outcome import Outcome
    from psopt.runs import RunSettings
    from psopt.tasks import Task

# What DSPy's BootstrapFewShotWithRandomSearch puts into a program by default (`max_labeled_demos`).
_DEMONSTRATIONS_ALLOWED = 16


def planned(
    student: Any, outcome: Outcome, data: ProgramData, compilation: Compilation
) -> tuple[Compilation, ProgramData]:
    """Choose the sizes where calls are limited, say what is expected, and hold the final test's calls back."""
    settings, task = _with_room_for_demonstrations(compilation.settings), data.task
    n_steps = len(student.named_predictors())
    races = compilation.metric is None and outcome.equivalence is None and task.spec.kind != FREE
    available = {"train": len(task.train), "val": len(task.val), "test": len(task.test)}
    budget = compilation.models.budget
    if compilation.most_calls is not None:
        sizes = sizes_within(compilation.most_calls, n_steps, available, races=races)
        settings = sized(settings, sizes)
        task = _drawn(task, sizes, settings.seed)
    else:
        sizes = _sizes_asked(settings, available)
    expected = calls_expected(sizes, n_steps, races=races)
    compilation.observer.phase(expected.line)
    if budget.max_calls is not None and expected.total > budget.max_calls:
        compilation.observer.phase(f"max_calls={budget.max_calls} is below that, and ends the search before")
    n_wordings = len(settings.heldout_from)
    budget.held_back = Need(calls_to_hold_back(sizes, n_steps, budget.max_calls, n_other_wordings=n_wordings))
    return replace(compilation, settings=settings), replace(data, task=task)


def _sizes_asked(settings: RunSettings, available: Mapping[str, int]) -> Sizes:
    """The sizes that were asked for by name, with all samples of each split."""
    search = settings.search
    return Sizes(
        train=available["train"],
        val=available["val"],
        test=available["test"],
        rephrasings=settings.rephrasings,
        heldout=settings.heldout,
        trials=search.trials,
        rounds=search.rounds,
    )


def _drawn(task: Task, sizes: Sizes, seed: int) -> Task:
    """The task with as many of its samples as the sizes say, of every label where there are labels."""
    by_label = not task.spec.is_open
    return replace(
        task,
        train=subset(task.train, sizes.train, seed=seed, by_label=by_label),
        val=subset(task.val, sizes.val, seed=seed, by_label=by_label),
        test=subset(task.test, sizes.test, seed=seed, by_label=by_label),
    )


def _with_room_for_demonstrations(settings: RunSettings) -> RunSettings:
    """The settings, with demonstrations allowed beside the limits on what is handed back."""
    search = settings.search
    parts = replace(search.parts, examples_allowed=_DEMONSTRATIONS_ALLOWED)
    return replace(settings, search=replace(search, parts=parts))
