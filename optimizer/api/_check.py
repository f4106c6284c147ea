"""`psopt.check`: is a prompt robust enough to ship? Thresholds for continuous integration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.api._measure import chosen_samples, measure_options, predict
from psopt.api._pinned import not_among, pinned_samples
from psopt.api._progress import reading
from psopt.api._prompts import prompt_for
from psopt.api._thresholds import check_bounds, each_threshold, pinned_threshold, thresholds
from psopt.errors import InputError
from psopt.evaluation import score

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from psopt.api._measure import SplitChoice
    from psopt.api._prompts import AnyPrompt
    from psopt.api._threshold import Threshold
    from psopt.api._thresholds import ClassBounds, End
    from psopt.evaluation import Scores
    from psopt.models import OnProgress
    from psopt.models.chat import LMConfig
    from psopt.rephrasings import RephrasingOptions
    from psopt.runs import PromptOptions
    from psopt.tasks import Task


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was measured, and how it keeps to each bound; and how much the rephrasings differ from each other."""

    scores: Scores
    thresholds: tuple[Threshold, ...]
    diversity: float | None = None

    @property
    def met(self) -> bool:
        """Whether all bounds are kept to."""
        return all(threshold.met for threshold in self.thresholds)


def check(
    task: Task,
    prompt: AnyPrompt | None = None,
    *,
    model: Any = "minilm",
    prompt_options: PromptOptions | None = None,
    max_sensitivity: float | None = None,
    min_f1: float | None = None,
    min_macro_f1: float | None = None,
    min_class_f1: ClassBounds | None = None,
    min_consistency: float | None = None,
    max_na_rate: float | None = None,
    each: float | None = None,
    min_each: float | None = None,
    pinned: Collection[str] = (),
    use_ci_bound: bool = False,
    alarm: bool = False,
    rephrasings: int = 10,
    rephrasing: RephrasingOptions | None = None,
    split: SplitChoice = "test",
    samples: int = 500,
    strategy: str = "simple",
    seed: int = 42,
    lm: LMConfig | None = None,
    cache_dir: str | Path | None = None,
    on_progress: OnProgress | None = None,
    progress: bool | None = None,
) -> CheckResult:
    """Measure a prompt under rephrasings and hold it against bounds.

    Parameters
    ----------
    max_sensitivity, min_f1, min_macro_f1, min_consistency, max_na_rate : float, optional
        In [0, 1]. At least one of these, of `min_class_f1`, of `each` and of pinned samples.
    min_class_f1 : float or dict of label to float, optional
        The least F1 of every class that is right or answered anywhere, or of those that are named.
    each : float, optional
        Each sample must keep its right answer under at least this share of the wordings, in (0, 1].
    min_each : float, optional
        The share of the samples that must do so, in [0, 1]; by default all, 1.
    pinned : collection of str
        Ids of samples that must be right under every wording, beside those that the data pin (`Sample.pinned`); of any
        split. Those that are not among the measured samples are asked about too, and are in no score.
    use_ci_bound : bool
        Ask that the bad end of the 95 % interval keeps to the bounds, not just the estimate. A prompt exactly at a
        bound then passes in 2 % of the cases, at most in 4 % for F1 and C, and in 6 % for S (benchmarks/coverage.md).
    alarm : bool
        Ask it of the good end only: a prompt exactly at a bound fails in 2 %, one exactly at three bounds in 4 %, of
        the cases (5 and 7 % at most).
    task, prompt, prompt_options, model, rephrasings, rephrasing, split, samples, strategy, seed, lm, cache_dir
        See `measure`.
    on_progress, progress
        See `measure`.

    Raises
    ------
    PsoptError
        If no bound is given, one of S for a single wording, or an argument or the task can't be used.
    """
    if use_ci_bound and alarm:
        raise InputError("use_ci_bound asks for the bad end of the interval, and alarm for the good one: give one")
    if each is None and min_each is not None:
        raise InputError("min_each says how many samples must keep their right answer: give --each too, such as .8")
    if each is not None and not 0 < each <= 1:
        raise InputError(f"each is a share of the wordings, above 0 and at most 1, not {each:g}")
    bounds: dict[str, float | ClassBounds | None] = {
        "max_sensitivity": max_sensitivity,
        "min_f1": min_f1,
        "min_macro_f1": min_macro_f1,
        "min_class_f1": min_class_f1,
        "min_consistency": min_consistency,
        "max_na_rate": max_na_rate,
    }
    to_keep = pinned_samples(task, pinned)
    check_bounds(
        {**bounds, "each": each, "pin": 1.0 if to_keep else None},
        labels=task.labels,
        has_labels=task.spec.has_labels,
        n_rephrasings=rephrasings,
    )
    options = measure_options(rephrasings, split, samples, seed, lm, rephrasing, cache_dir)
    asked = prompt_for(task, prompt, strategy, seed, prompt_options)
    measured = chosen_samples(task, options)
    further = not_among(to_keep, measured)
    with reading(on_progress, progress) as on_reading:
        answered = predict(task, asked, model, options, options.models(), on_reading, further=further)
    predictions = answered.of_samples(np.arange(len(measured))) if further else answered
    scores = score(predictions, intervals=True, seed=seed)
    end: End = "bad" if use_ci_bound else "good" if alarm else "estimate"
    held = thresholds(scores, bounds, end=end) if any(bound is not None for bound in bounds.values()) else []
    if each is not None:
        held.append(each_threshold(predictions, each, 1.0 if min_each is None else min_each, end=end))
    if to_keep:
        kept = {sample.id for sample in to_keep}
        held.append(pinned_threshold(answered.of_samples(np.array([of.id in kept for of in answered.samples]))))
    return CheckResult(scores, tuple(held), predictions.diversity)
