"""`psopt.optimize`: from a task to a run, the whole job; `run` does it by settings, for `psopt.resume` too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.api._beside import check_other_wordings, probes_of
from psopt.api._planning import kept_pace, least_estimate, settings_for, timed_pace
from psopt.api._progress import watched
from psopt.api._prompts import file_of, own_prompt
from psopt.api._searching import search_in
from psopt.api._setup import answering_models, frozen_evaluator, make_proposer, rephrasing_again, run_options
from psopt.errors import InputError
from psopt.models import ModelProvider, capabilities_of, name_of_model
from psopt.rephrasings import given_wordings
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
from psopt.runs.planning import is_long, run_settings, run_time_line, shorter_line
from psopt.search import SearchProblem, check_limits
from psopt.tasks import as_task
from psopt.tracking import split_callbacks, tracked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from psopt.api._prompts import AnyPrompt
    from psopt.evaluation import Evaluator
    from psopt.models import Model
    from psopt.runs import CostEstimate, Run, RunDirectory, RunSettings
    from psopt.runs.planning import Plan
    from psopt.search import Observer
    from psopt.search_spaces import Prompt
    from psopt.settings import PromptOptions, SizeOptions
    from psopt.tasks import Task
    from psopt.tracking import Callback, OptunaCallback, Tracker


def optimize(
    task: Task | str | Path,
    *,
    prompt: AnyPrompt | None = None,
    prompt_options: PromptOptions | None = None,
    model: Any = "minilm",
    out: str | Path | None = None,
    cache_dir: str | Path | None = None,
    heldout_from: Sequence[str] | str | Path = (),
    resume: bool = False,
    force: bool = False,
    observer: Observer | None = None,
    progress: bool | None = None,
    callbacks: Iterable[Callback] = (),
    **settings: Any,
) -> Run:
    """Search for prompts that are right, insensitive and consistent, and score the Pareto front on unseen data.

    Edits are drawn from train, candidates compared on val under the search rephrasings, and the front is scored once
    on test under held-out rephrasings. Everything is written to a run directory as it comes about; Ctrl-C keeps what
    was found.

    Parameters
    ----------
    task : Task, or str or path
        A data set's name or file is loaded as `load_task` does.
    prompt : Prompt, path, str or list of messages, optional
        What the run starts from: a prompt, its file, a Python function ``MODULE:NAME``, a text with a line break or a
        brace, or chat messages; by default the original prompt of `strategy`.
    prompt_options : PromptOptions, optional
        How the prompt's file is read, where it does not say so itself.
    model : str, callable, dspy.LM or Model, or list of them
        A name; a function that takes chat messages and returns the answer's text, at once or as a coroutine; or a
        model that is made already. For several models one prompt is searched that serves all of them.
    heldout_from : sequence of str, or path, optional
        Wordings of another source, written by people for instance: what is handed back is put to them on test too,
        and run.json and the report say both. A text file has one per line; JSON is a list, or a rephrasings.json.
    out : path, optional
        The run directory, new or empty; by default ``runs/TASK-MODEL``, numbered where that is taken.
    cache_dir : path, optional
        Where answers and embeddings are kept between runs; by default `psopt.models.cache_folder`.
    resume : bool
        Resume the run in `out`; see also `psopt.resume`.
    force : bool
        Resume it also where the data, the model, the rephrasings or psopt's version have changed.
    observer : Observer, optional
        Is told how the work goes.
    progress : bool, optional
        Show a bar; by default in notebooks and terminals, and nowhere where there is an observer.
    callbacks : iterable, optional
        Who records the run: ``"mlflow"``, or with an experiment ``"mlflow:tickets"``; a `psopt.tracking.Tracker`, or
        its ``"MODULE:NAME"``; or a function that is called after each trial as Optuna's callbacks are,
        ``callback(study, trial)``. One that fails is left out from then on, and the run goes on.
    **settings
        What `psopt optimize` has as options, by name: how large the run is (see `SizeOptions`: ``effort``, ``trials``,
        ``rephrasings``, ``samples`` ..), how it is searched and what is recommended (see `RunOptions`: ``seed``,
        ``proposer``, ``gate``, ``max_prompt_tokens`` ..), how models are asked and what they may cost (see `LMConfig`:
        ``api_base``, ``max_cost`` ..), where rephrasings come from (see `RephrasingOptions`). Groups may be given
        whole: ``lm=LMConfig(..)``, ``rephrasing=RephrasingOptions(..)``, ``parts=SearchRestriction(..)``.

        Sizes that are not given are chosen by the effort: ``light``, ``medium`` and ``heavy`` are at most about 5,000,
        20,000 and 60,000 calls, the final test among them; ``full`` is 40 trials of 500 samples under 10 wordings, in
        3 rounds, and all of test. By default it is ``full`` with minilm and sim, else as the limits allow, else
        ``light``.

    Raises
    ------
    PsoptError
        If an argument, the task or the run directory can't be used.
    BudgetReachedError
        If a limit of yours ends the search. What was found is scored on test first, as far as that is paid for, and
        stands in the error's `run`. An effort's own limit is no error: the run says ``budget``.
    """
    task = as_task(task)
    by_name = all(isinstance(each, str) for each in (model if isinstance(model, (list, tuple)) else [model]))
    log, callbacks = split_callbacks([*callbacks, *settings.get("log", ())])
    options, sizes = run_options(task, settings, model=name_of_model(model), log=log)
    wordings, wordings_name = given_wordings(heldout_from)
    planned = run_settings(
        options,
        sizes,
        own_model=not by_name,
        prompt=own_prompt(task, prompt, options.strategy, prompt_options),
        prompt_file=file_of(prompt),
        heldout_from=wordings,
        heldout_from_name=wordings_name,
    )
    with watched(observer, progress) as watcher:
        return run(
            task,
            planned,
            sizes,
            model=None if by_name else model,
            out=out,
            cache_dir=cache_dir,
            resume=resume,
            force=force,
            observer=watcher,
            callbacks=callbacks,
        )


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
    on_estimate: Callable[[CostEstimate], None] | None = None,
    on_plan: Callable[[Plan], None] | None = None,
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
        if any(capabilities_of(each).costs_time for each in answering):
            estimate = plan.estimate if plan else _estimate(task, settings, evaluator, directory)
            _say_how_long(problem, settings, estimate, models, sizes, resume=resume)
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
    on_estimate: Callable[[CostEstimate], None] | None,
    *,
    resume: bool,
) -> Evaluator:
    """Put together what prompts are compared on; check first that the limits pay for the least of it."""
    options = rephrasing_again(settings.rephrasing, directory.path)
    able = [capabilities_of(each) for each in answering]
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
    *,
    resume: bool,
) -> None:
    """Time a model that answers here, and say how long the run will take; where that is long, what takes less."""
    answering = [each.model for each in problem.evaluator.each]
    if resume:
        pace = kept_pace(answering, models)
    else:
        problem.observer.phase(f"timing a few answers of {settings.model}")
        pace = timed_pace(problem.evaluator, problem.baseline_prompt, models)
    if pace is None:
        return
    most = settings.lm.max_calls
    n_answers = estimate.calls_expected if most is None else min(most, estimate.calls_expected)
    problem.observer.phase(run_time_line(n_answers, pace.per_minute))
    if sizes and not resume and is_long(n_answers, pace.per_minute):
        least = least_estimate(problem.task, settings, sizes, models, answering)
        if least.calls_expected < n_answers:
            problem.observer.phase(shorter_line(least, pace.per_minute, sizes.effort))
