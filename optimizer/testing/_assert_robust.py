"""For test suites: assert that a prompt is robust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.api import MeasureOptions, check

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from psopt.evaluation import Scores
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task


def assert_robust(
    task: Task,
    prompt: Prompt,
    model: Any = "minilm",
    *,
    max_sensitivity: float | None = None,
    min_f1: float | None = None,
    min_macro_f1: float | None = None,
    min_class_f1: float | Mapping[str, float] | None = None,
    min_consistency: float | None = None,
    max_na_rate: float | None = None,
    each: float | None = None,
    min_each: float | None = None,
    pinned: Collection[str] = (),
    sure: bool = False,
    alarm: bool = False,
    options: MeasureOptions | None = None,
) -> Scores:
    """Assert that a prompt keeps to bounds under rephrasings; returns its scores.

    Parameters
    ----------
    task : Task
    prompt : Prompt
    model : str, dspy.LM or Model
    max_sensitivity, min_f1, min_macro_f1, min_class_f1, min_consistency, max_na_rate, each, min_each, pinned
        At least one bound, as of `psopt.check`.
    sure : bool
        Ask it of the bad end of the 95 % interval.
    alarm : bool
        Ask it of the good end: fail only where a bound is surely missed.
    options : MeasureOptions, optional
        By default 10 held-out rephrasings and at most 500 samples of test.

    Raises
    ------
    AssertionError
        Naming every bound that is missed.
    """
    result = check(
        task,
        prompt,
        model=model,
        max_sensitivity=max_sensitivity,
        min_f1=min_f1,
        min_macro_f1=min_macro_f1,
        min_class_f1=min_class_f1,
        min_consistency=min_consistency,
        max_na_rate=max_na_rate,
        each=each,
        min_each=min_each,
        pinned=pinned,
        use_ci_bound=sure,
        alarm=alarm,
        progress=False,
        **(options or MeasureOptions()).keywords(),
    )
    missed = [str(threshold) for threshold in result.thresholds if not threshold.met]
    if missed:
        raise AssertionError("; ".join(missed))
    return result.scores
