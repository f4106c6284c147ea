"""`psopt.check`: is a prompt robust enough to ship?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.api._measure import chosen_samples, model_for, predict_again
from psopt.api._progress import reading
from psopt.api._prompts import AnyPrompt, prompt_for
from psopt.api._thresholds import Threshold, check_bounds, pinned_threshold, thresholds
from psopt.errors import InputError, nearest
from psopt.evaluation import Reruns, Scores, score
from psopt.models import ModelProvider, OnProgress
from psopt.settings import BoundOptions, MeasureOptions, PromptOptions, built, check_keywords
from psopt.tasks import Sample, Task, as_task

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was measured, and whether each bound is met.

    Also how much the rephrasings differ from each other and, if requested, what asking again changes.
    """

    scores: Scores
    thresholds: tuple[Threshold, ...]
    diversity: float | None = None
    reruns: Reruns | None = None

    @property
    def met(self) -> bool:
        """Whether all bounds are met."""
        return all(threshold.met for threshold in self.thresholds)


def check(
    task: Task | str | Path,
    prompt: AnyPrompt | None = None,
    *,
    model: Any = None,
    prompt_options: PromptOptions | None = None,
    strategy: str = "simple",
    options: MeasureOptions | None = None,
    bounds: BoundOptions | None = None,
    on_progress: OnProgress | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> CheckResult:
    """Measure a prompt under rephrasings and compare its scores with bounds.

    Parameters
    ----------
    task, prompt, model, prompt_options, strategy, options, on_progress, progress
        See `measure`.
    bounds : BoundOptions, optional
        The bounds that it must meet.
    **settings
        Bounds by name, such as ``max_sensitivity=.1``, ``min_class_f1={"billing": .8}``, ``each=.8``, ``pinned=["17"]``
        or ``use_ci_bound=True`` (see `BoundOptions`); and the settings of `measure`.

    Raises
    ------
    PsoptError
        If no bound is given, S is bounded under a single wording, or an argument or the task can't be used.
    """
    task = as_task(task)
    check_keywords(settings, MeasureOptions, BoundOptions)
    asked_of_it = built(BoundOptions, settings, bounds)
    model, options = model_for([prompt], model, options, prompt_options)
    options = built(MeasureOptions, settings, options)
    if asked_of_it.beyond_reruns and not options.rephrasing.repeats:
        raise InputError("--beyond-reruns needs what asking again changes: add --vary repeat")
    to_keep = pinned_samples(task, asked_of_it.pinned)
    check_bounds(asked_of_it, task, options.rephrasings, has_pinned=bool(to_keep))
    subject = prompt_for(task, prompt, strategy, options.seed, prompt_options)
    further = further_pinned(task, options, asked_of_it.pinned)
    models = ModelProvider(options.cache_dir, options.lm)
    with reading(on_progress, progress) as on_reading:
        answered, reruns = predict_again(task, subject, model, options, models, on_reading, further=further)
    predictions = answered
    if further:
        predictions = answered.of_samples(np.arange(len(answered.samples) - len(further)))
    scores = score(predictions, intervals=True)
    held = thresholds(asked_of_it, scores, predictions, reruns)
    if to_keep:
        pinned_ids = {sample.id for sample in to_keep}
        held.append(pinned_threshold(answered.of_samples(np.array([of.id in pinned_ids for of in answered.samples]))))
    return CheckResult(scores, tuple(held), predictions.diversity, reruns)


def pinned_samples(task: Task, named: Collection[str] = ()) -> tuple[Sample, ...]:
    """The samples that are pinned in the data, and those that are named; raises InputError for an id that none has."""
    ids = {sample.id for sample in task.samples}
    for name in named:
        if name not in ids:
            hint = nearest(name, ids) or f": their ids are such as {', '.join(sorted(ids)[:3])}"
            raise InputError(f"the pinned sample {name!r} is none of the {len(ids)} samples{hint}")
    return tuple(sample for sample in task.samples if sample.pinned or sample.id in named)


def further_pinned(task: Task, options: MeasureOptions, named: Collection[str] = ()) -> tuple[Sample, ...]:
    """The pinned samples that a check asks about in addition to those that it measures on."""
    ids = {sample.id for sample in chosen_samples(task, options)}
    return tuple(sample for sample in pinned_samples(task, named) if sample.id not in ids)
