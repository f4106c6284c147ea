"""How large a run will be: planned once, before anything is asked; a run that is resumed keeps what was planned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.api._setup import freeze_for, make_evaluator
from psopt.api._timing import kept_pace
from psopt.models import ModelProvider, capabilities_of
from psopt.rephrasings import read_file
from psopt.runs import (
    MANIFEST,
    Limits,
    Plan,
    Planner,
    PlanOptions,
    RunDirectory,
    RunSettings,
    SearchBasis,
    estimate_from,
    limits_of,
    resumed_from,
    sized,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from psopt.models import Model
    from psopt.runs import CostEstimate, Sizes
    from psopt.tasks import Task

# On so many samples and wordings it is counted what a call takes; more tell hardly more.
_SAMPLES = 60
_WORDINGS = 2


def plan_run(
    task: Task,
    settings: RunSettings,
    options: PlanOptions,
    cache_dir: str | Path | None = None,
    *,
    model: Any = None,
) -> Plan:
    """Plan a run with these settings: its sizes, and what they are expected to take; nothing is sent.

    Raises PsoptError if an argument or the task can't be used.

    Parameters
    ----------
    settings : RunSettings
        What is asked beside the sizes, with the user's limits.
    options : PlanOptions
        The effort, and the sizes that are not to be planned.
    model : Model or dspy.LM, optional
        Goes before the settings' name of one.
    """
    models = ModelProvider(cache_dir, settings.lm)
    answering = models.answering(model or settings.model, task)
    plan = plan_with(task, settings, options, models, answering)
    pace = plan.estimate.pace or kept_pace(answering, models)
    return replace(plan, estimate=replace(plan.estimate, pace=pace))


def plan_with(task: Task, settings: RunSettings, options: PlanOptions, models: ModelProvider, answering: Model) -> Plan:
    """Plan a run with the models that it will have."""
    effort = options.effort_for(settings.lm, is_free=capabilities_of(answering).is_free)
    limits, limits_of_run = limits_of(effort, Limits.of_user(settings.lm))
    planner = _planner(task, settings, options, models, answering, limits if effort != "full" else Limits())
    is_full = effort == "full"
    sizes = planner.full if is_full else planner.chosen
    estimate = _exact(planner, sizes, models, answering)
    full_calls = planner.estimate(planner.full).calls
    return Plan(effort, sizes, limits_of_run, estimate, full_calls, () if is_full else planner.warnings(sizes))


def least_estimate(
    task: Task, settings: RunSettings, options: PlanOptions, models: ModelProvider, answering: Model
) -> CostEstimate:
    """Count what the smallest run takes that makes sense and has the sizes that the user has set."""
    planner = _planner(task, settings, options, models, answering, Limits())
    return planner.estimate(planner.least)


def settings_for(
    task: Task,
    settings: RunSettings,
    options: PlanOptions,
    models: ModelProvider,
    answering: Model,
    directory: RunDirectory,
    *,
    resume: bool,
) -> tuple[RunSettings, Plan | None]:
    """Return the settings of a run with its sizes in them, and its plan if it was made now; set the models' limit.

    Raises InputError if another effort is asked for than the run was begun with.
    """
    if resume and (directory.path / MANIFEST).exists():
        settings = resumed_from(directory.read_json(MANIFEST), settings, options)
        models.budget.max_calls = settings.lm.max_calls
        return settings, None
    if options.effort_for(settings.lm, is_free=capabilities_of(answering).is_free) == "full":
        return settings, None
    plan = plan_with(task, settings, options, models, answering)
    settings = plan.applied_to(settings)
    models.budget.max_calls = settings.lm.max_calls
    return settings, plan


def _planner(
    task: Task, settings: RunSettings, options: PlanOptions, models: ModelProvider, answering: Model, limits: Limits
) -> Planner:
    """Count what a call takes on a part of the task, from which all sizes are reckoned."""
    baseline = settings.baseline(task)
    available = _available(task, settings)
    n_wordings = min(_WORDINGS, *(available.get(name, _WORDINGS) for name in ("rephrasings", "heldout")))
    part = replace(
        settings,
        samples=_SAMPLES,
        train_samples=None,
        test_samples=_SAMPLES,
        rephrasings=min(settings.rephrasings, n_wordings),
        heldout=n_wordings,
    )
    by_rule = freeze_for(task, baseline, part, settings.rephrasing.by_rule(), models)
    evaluator = make_evaluator(task, part, models, by_rule, answering)
    basis = SearchBasis.of(part, baseline, evaluator, ignoring_cache=True)
    return Planner(task, settings, baseline, basis, options.sizes, available, limits)


def _available(task: Task, settings: RunSettings) -> Mapping[str, int]:
    """The most that there are: samples of a split, and the wordings of a file."""
    samples = {"train": len(task.train), "val": len(task.val), "test": len(task.test)}
    if settings.rephrasing.file is None:
        return samples
    of_file = read_file(settings.rephrasing.file)
    return {**samples, "rephrasings": len(of_file.search), "heldout": len(of_file.heldout)}


def _exact(planner: Planner, sizes: Sizes, models: ModelProvider, answering: Model) -> CostEstimate:
    """What these sizes take, counted on their own samples and wordings."""
    task, baseline = planner.task, planner.baseline
    settings = sized(planner.settings, sizes)
    by_rule = freeze_for(task, baseline, settings, settings.rephrasing.by_rule(), models)
    evaluator = make_evaluator(task, settings, models, by_rule, answering)
    basis = SearchBasis.of(settings, baseline, evaluator)
    return estimate_from(basis, task, settings, baseline)
