"""The size of a compilation: the largest that a number of language model calls allows, including the final test."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal

from psopt.dspy_programs._proposals import MOST_TEXTS
from psopt.models.chat import Need
from psopt.runs import whole_grids
from psopt.runs.planning import FLOOR_TRIALS, Sizes, path, sized
from psopt.tasks import FREE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.dspy_programs._compilation import Compilation
    from psopt.tasks import Task

Auto = Literal["light", "medium", "heavy"]
# MIPROv2 takes 670 and 1,181 calls for 100 + 100 examples of a one-step program, GEPA's light 871, bootstrapped random
# search 1,974. S needs answers under several wordings, so this is about the least that it costs.
AUTO_CALLS: dict[Auto, int] = {"light": 1_950, "medium": 4_900, "heavy": 19_500}
"""The maximum number of language model calls."""
N_TESTED = 3
"""Prompts that the gate tests: the baseline, the knee, and the shortest that is as good."""
# What DSPy's BootstrapFewShotWithRandomSearch puts into a program by default (`max_labeled_demos`).
_DEMONSTRATIONS_ALLOWED = 16
_SHARE = 0.92  # share of a limit to plan with: the actual number may be higher than expected
_LARGEST_SHARE_HELD = 0.5  # most of a limit to reserve for the final test: otherwise no calls would be left to search


def calls_expected(sizes: Sizes, n_steps: int, *, races: bool) -> dict[str, int]:
    """How many calls a compilation should make, by purpose, if every run of the program calls each step once."""
    grid = sizes.val * sizes.rephrasings
    grids: float = max(1, sizes.trials)
    if races and grids > 1:
        grids = 1 + whole_grids(sizes.trials - 1, sizes.val, sizes.rephrasings).expected
    n_runs: dict[str, float] = {}
    if n_steps > 1:
        n_runs["to find the unstable step"] = n_steps * min(MOST_TEXTS, sizes.train) * sizes.rephrasings
    # The first diagnosis, half of the further ones (the best prompt may be the same), and the one for the report.
    n_runs["to diagnose on train"] = sizes.train * sizes.rephrasings * (2 + (sizes.rounds - 1) / 2)
    n_runs["to compare on val"] = grid * grids
    n_runs["to test"] = N_TESTED * sizes.test * sizes.heldout
    return {purpose: round(n * n_steps) for purpose, n in n_runs.items()}


def sizes_within(most_calls: int, n_steps: int, available: Mapping[str, int], *, races: bool) -> Sizes:
    """Return the largest sizes that this many calls allow, or the smallest sensible ones if they allow none."""
    all_sizes = path({}, available)
    for sizes in reversed(all_sizes):
        n_calls = sum(calls_expected(sizes, n_steps, races=races).values())
        if n_calls <= _SHARE * most_calls and sizes.trials >= FLOOR_TRIALS:
            return sizes
    return all_sizes[0]


def planned(student: Any, task: Task, compilation: Compilation) -> tuple[Compilation, Task]:
    """Choose the sizes if calls are limited, say what is expected, and reserve calls for the final test."""
    search = compilation.settings.search
    parts = replace(search.parts, examples_allowed=_DEMONSTRATIONS_ALLOWED)
    settings = replace(compilation.settings, search=replace(search, parts=parts))
    n_steps = len(student.named_predictors())
    races = compilation.metric is None and compilation.equivalence is None and task.spec.kind != FREE
    available = {"train": len(task.train), "val": len(task.val), "test": len(task.test)}
    budget = compilation.models.budget
    if compilation.most_calls is not None:
        sizes = sizes_within(compilation.most_calls, n_steps, available, races=races)
        settings = sized(settings, asdict(sizes))
        drawn: dict[str, Any] = {
            split: task.subset(getattr(task, split), getattr(sizes, split), seed=settings.seed) for split in available
        }
        task = replace(task, **drawn)
    else:
        wordings = {"rephrasings": settings.rephrasings, "heldout": settings.heldout}
        sizes = Sizes(**available, **wordings, trials=search.trials, rounds=search.rounds)
    expected = calls_expected(sizes, n_steps, races=races)
    n_calls = sum(expected.values())
    parts_of_it = ", ".join(f"{n:,} {purpose}" for purpose, n in expected.items())
    compilation.tell(f"about {n_calls:,} calls: {parts_of_it}")
    if budget.max_calls is not None and n_calls > budget.max_calls:
        compilation.tell(f"max_calls={budget.max_calls} is below that, and ends the search before")
    # The final test also uses wordings from another source, before and after.
    n_test_runs = sizes.test * (N_TESTED * sizes.heldout + 2 * len(settings.heldout_from))
    most_held_back = int(_LARGEST_SHARE_HELD * (budget.max_calls or 0))
    budget.held_back = Need(min(n_test_runs * n_steps, most_held_back))
    return replace(compilation, settings=settings), task
