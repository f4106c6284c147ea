"""For test suites: assert that a prompt is robust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.settings import spelled_for_python

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.api import AnyPrompt
    from psopt.evaluation import Scores
    from psopt.settings import MeasureOptions
    from psopt.tasks import Task


@spelled_for_python()
def assert_robust(
    task: Task | str | Path,
    prompt: AnyPrompt,
    model: Any = None,
    *,
    sure: bool = False,
    alarm: bool = False,
    options: MeasureOptions | None = None,
    **bounds: Any,
) -> Scores:
    """Assert that a prompt keeps its bounds under rephrasings; returns its scores.

    Parameters
    ----------
    task, prompt, model
        See `psopt.check`.
    sure : bool
        Require the bounds at the worse end of the 95 % interval.
    alarm : bool
        Require them at the better end: fail only if a bound is clearly missed.
    options : MeasureOptions, optional
        By default 10 held-out rephrasings and at most 500 samples of test.
    **bounds
        At least one, as for `psopt.check`: ``max_sensitivity=.1``.

    Raises
    ------
    AssertionError
        Naming every bound that is missed.
    """
    from psopt.api import check  # pytest imports this package in every session: heavy imports wait until needed

    bounds = {"use_ci_bound": sure, "alarm": alarm, **bounds}
    result = check(task, prompt, model=model, progress=False, options=options, **bounds)
    missed = [str(threshold) for threshold in result.thresholds if not threshold.met]
    if missed:
        raise AssertionError("; ".join(missed))
    return result.scores
