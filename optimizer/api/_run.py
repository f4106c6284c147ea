"""A run by its settings: what `optimize` and `resume` come down to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.api._beside import check_other_wordings, probes_of
from psopt.api._planning import kept_pace, least_estimate, settings_for, timed_pace
from psopt.api._searching import search_in
from psopt.api._setup import answering_models, frozen_evaluator, make_proposer, rephrasing_again
from psopt.errors import InputError
from psopt.models import ModelProvider, capabilities_of
from psopt.runs import (
    ARTIFACTS,
    FRONT,
    STUDY,
    SearchBasis,
    check_same_prompt,
    free_folder,
    held,
    n_evaluated,
    spending_kept,
)
from psopt.runs.planning import is_long, run_time_line, shorter_line
from psopt.search import Observer, SearchProblem, check_limits
from psopt.tracking import tracked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.evaluation import Evaluator
    from psopt.models import Model
    from psopt.runs import CostEstimate, Run, RunDirectory, RunSettings
    from psopt.runs.planning import Plan
    from psopt.search_spaces import Prompt
    from psopt.settings import SizeOptions
    from psopt.tasks import Task
    from psopt.tracking import OptunaCallback, Tracker

    OnEstimate = Callable[[CostEstimate], None]
    OnPlan = Callable[[Plan], None]


def run(
    task: Task,
    settings: RunSettings,
    sizes: SizeOptions | None = None,
    *,
    model: Any = None,
    out: str | Path | None = None,
    cache_dir: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
    observer: Observer | None = None,
    on_estimate: OnEstimate | None = None,
    on_plan: OnPlan | None = None,
    callbacks: Sequence[Tracker | OptunaCallback] = (),
) -> Run:
    """Do what `optimize` promises, with its settings in one value; `model` goes before the settings' name of one.

    `sizes` say that the sizes in the settings are to be planned, but for those that the user has set; without them
    the settings stand as they are. `on_plan` is told of the plan, where there is one.

    To resume a run, its task, model, rephrasings and version of psopt must be what they were, unless `force`.
    `on_estimate` is told, before anything is asked, what the run will take of a model that costs. Of one that answers
    here a few answers are timed, and `observer` is told how long the run will take. `callbacks` record the run beside
    the trackers that the settings name.
    """
    baseline = settings.baseline(task)
    check_other_wordings(baseline, settings)
    probes = probes_of(settings, task)
    models = ModelProvider(cache_dir, settings.lm)
    folder = run_folder(settings.model, task, out, resume=resume)
    if resume:
        check_same_prompt(folder, settings)
    tracking = tracked(observer, settings.log, callbacks, models.budget)
    with held(folder, resume=resume) as directory, spending_kept(directory, models.budget), tracking:
        answering = answering_models(task, settings, models, model)
        plan: Plan | None = None
        if sizes is not None:
            settings, plan = settings_for(task, settings, sizes, models, answering, directory)
        if plan and on_plan:
            on_plan(plan)
        if plan and on_estimate:
            on_estimate(plan.estimate)
            on_estimate = None
        evaluator = _evaluator(task, settings, baseline, models, answering, directory, on_estimate, resume=resume)
        problem = SearchProblem(
            task,
            baseline,
            evaluator,
            settings.search,
            tracking,
            make_proposer(settings, models),
            artifacts=directory.path / ARTIFACTS,
        )
        if any(capabilities_of(one).costs_time for one in answering):
            estimate = plan.estimate if plan else _estimate(task, settings, evaluator, directory)
            _say_how_long(problem, settings, estimate, models, sizes, observer or Observer(), resume=resume)
        told = plan.to_dict() if plan else None
        return search_in(directory, problem, settings, plan=told, probes=probes, resume=resume, force=force)


def run_folder(model: str, task: Task, out: str | Path | None, *, resume: bool = False) -> Path:
    """The run directory that is named, else one that is free."""
    if resume and out is None:
        raise InputError("to resume, say which run: out=...")
    return Path(out) if out else free_folder(Path("runs"), f"{task.name}-{model}")


def _evaluator(
    task: Task,
    settings: RunSettings,
    baseline: Prompt,
    models: ModelProvider,
    answering: Sequence[Model],
    directory: RunDirectory,
    on_estimate: OnEstimate | None,
    *,
    resume: bool,
) -> Evaluator:
    """Put together what prompts are compared on; check first that the limits pay for the least of it."""
    options = rephrasing_again(settings.rephrasing, directory.path)
    able = [capabilities_of(one) for one in answering]
    if resume and settings.own_model and any(can.costs_time for can in able):
        models.budget.max_calls = None  # no cache has its answers: all are asked for again
    is_counted = any(can.asks_in_chat or can.costs_time for can in able)
    if not is_counted or not (on_estimate or models.budget.is_limited):
        return frozen_evaluator(task, settings, options, models, answering)
    evaluator = frozen_evaluator(task, settings, options.by_rule(), models, answering)
    if on_estimate:
        on_estimate(_estimate(task, settings, evaluator, directory))
    has_val = (directory.path / FRONT).exists()
    check_limits(
        evaluator, baseline, has_val=has_val, effort=settings.effort if settings.limited_by == "effort" else ""
    )
    return frozen_evaluator(task, settings, options, models, answering) if options.is_written else evaluator


def _estimate(task: Task, settings: RunSettings, evaluator: Evaluator, directory: RunDirectory) -> CostEstimate:
    """What the run in a directory, or what is left of it, will take."""
    return SearchBasis.of(task, settings, evaluator).estimate(settings, n_evaluated(directory.path / STUDY))


def _say_how_long(
    problem: SearchProblem,
    settings: RunSettings,
    estimate: CostEstimate,
    models: ModelProvider,
    sizes: SizeOptions | None,
    observer: Observer,
    *,
    resume: bool,
) -> None:
    """Time a model that answers here, and say how long the run will take; where that is long, what takes less."""
    answering = [one.model for one in problem.evaluator.each]
    if resume:
        pace = kept_pace(answering, models)
    else:
        observer.phase(f"timing a few answers of {settings.model}")
        pace = timed_pace(problem.evaluator, problem.baseline_prompt, models)
    if pace is None:
        return
    most = settings.lm.max_calls
    n_answers = estimate.calls_expected if most is None else min(most, estimate.calls_expected)
    observer.phase(run_time_line(n_answers, pace.per_minute))
    if sizes and not resume and is_long(n_answers, pace.per_minute):
        least = least_estimate(problem.task, settings, sizes, models, answering)
        if least.calls_expected < n_answers:
            observer.phase(shorter_line(least, pace.per_minute, sizes.effort))
