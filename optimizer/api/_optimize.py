"""`psopt.optimize`: from a task to a run, the whole job; `run` does it from settings, also for `psopt.resume`."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.api._finishing import check_other_wordings, probes_of
from psopt.api._planning import SizeChoice, check_paid, kept_pace, timed_pace
from psopt.api._progress import watched
from psopt.api._prompts import AnyPrompt, file_of, own_prompt, task_for
from psopt.api._searching import search_in
from psopt.api._setup import Setup, each_model, make_proposer, rephrasing_again, run_options
from psopt.errors import InputError
from psopt.models import ModelProvider, capabilities_of, name_of_model
from psopt.rephrasings import given_wordings
from psopt.runs import (
    FRONT,
    STUDY,
    CostEstimate,
    Run,
    RunDirectory,
    RunSettings,
    SearchBasis,
    cache_of,
    check_same_prompt,
    free_folder,
    held,
    n_evaluated,
    spending_kept,
)
from psopt.runs.planning import Plan, least_calls, run_lines, run_settings
from psopt.search import Observer, SearchProblem
from psopt.text import as_path
from psopt.tracking import Callback, OptunaCallback, Tracker, split_callbacks, tracked, tracker_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from psopt.evaluation import Evaluator
    from psopt.search_spaces import Prompt
    from psopt.settings import PromptOptions, SizeOptions
    from psopt.tasks import Task


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
    """Search for prompts that are accurate, insensitive and consistent, and score the Pareto front on unseen data.

    Edits are drawn from train, candidates are compared on val under the search rephrasings, and the front is scored
    once on test under held-out rephrasings. Everything is written to a run directory as the run proceeds; Ctrl-C keeps
    what was found.

    Parameters
    ----------
    task : Task, or str or path
        A data set's name or file is loaded as `load_task` does.
    prompt : Prompt, path, str or list of messages, optional
        What the run starts from: a prompt, its file, a Python function ``MODULE:NAME``, a text with a line break or a
        brace, or chat messages; by default the original prompt of `strategy`.
    prompt_options : PromptOptions, optional
        How the prompt's file is read, if it does not say so itself.
    model : str, callable, dspy.LM or Model, or list of them
        A name; a function that takes chat messages and returns the answer's text, directly or as a coroutine; or an
        existing model object. For several models, the search looks for one prompt that works with all of them.
    heldout_from : sequence of str, or path, optional
        Wordings of another source, for instance written by people. The recommended prompt is also tested under them,
        and run.json and the report show both results. A text file has one per line; JSON is a list, or a
        rephrasings.json.
    out : path, optional
        The run directory, new or empty; by default ``runs/TASK-MODEL``, numbered if that is taken.
    cache_dir : path, optional
        Where answers and embeddings are kept between runs; by default `psopt.models.cache_folder`.
    resume : bool
        Resume the run in `out`, or begin it if there is none; see also `psopt.resume`.
    force : bool
        Resume it even if the data, the model, the rephrasings or psopt's version have changed.
    observer : Observer, optional
        Is notified of the run's progress.
    progress : bool, optional
        Show a progress bar; by default in notebooks and terminals, unless there is an observer.
    callbacks : iterable, optional
        What records the run: ``"mlflow"``, or with an experiment ``"mlflow:tickets"``; a `psopt.tracking.Tracker`, or
        its ``"MODULE:NAME"``; or a function ``callback(study, trial)`` that is called after each trial, like Optuna's
        callbacks. One that fails is not called again, and the run goes on.
    **settings
        The options of `psopt optimize`, by name: how large the run is (see `SizeOptions`: ``effort``, ``trials``,
        ``rephrasings``, ``samples`` ..), how it is searched and what is recommended (see `RunOptions`: ``seed``,
        ``proposer``, ``gate``, ``max_prompt_tokens`` ..), how models are asked and what they may cost (see `LMConfig`:
        ``api_base``, ``max_cost`` ..), where rephrasings come from (see `RephrasingOptions`). Groups may be given as a
        whole: ``lm=LMConfig(..)``, ``rephrasing=RephrasingOptions(..)``, ``parts=SearchRestriction(..)``.

        Sizes that are not given depend on the effort: ``light``, ``medium`` and ``heavy`` are at most about 5,000,
        20,000 and 60,000 calls, including the final test; ``full`` is 40 trials of 500 samples under 10 wordings, in
        3 rounds, and all of test. The default is ``full`` with minilm and sim, otherwise what your limits allow, or
        ``light`` without any.

    Raises
    ------
    PsoptError
        If an argument, the task or the run directory can't be used.
    BudgetReachedError
        If one of your limits ends the search. What was found is scored on test first, as far as the limit allows, and
        is in the error's `run`. An effort's own limit is not an error: the run's `finish_reason` is ``budget``.
    """
    named = {"dataset": str(task), "folder": str(Path.cwd())} if isinstance(task, (str, Path)) else {}
    task = task_for(task, [prompt], prompt_options)
    model = "minilm" if model is None else model
    by_name = all(isinstance(each, str) for each in each_model(model))
    log, callbacks = split_callbacks(callbacks)
    logged = settings.get("log", ())
    log += tracker_names([logged] if isinstance(logged, str) else logged)
    options, sizes = run_options(task, settings, model=name_of_model(model), log=log, **named)
    wordings, wordings_name = given_wordings(heldout_from)
    planned = run_settings(
        options,
        sizes,
        own_model=not by_name,
        split_seed=task.info.split_seed,
        prompt=own_prompt(task, prompt, options.strategy, prompt_options),
        prompt_file=file_of(prompt),
        heldout_from=wordings,
        heldout_from_name=wordings_name,
    )
    if by_name:
        model = None  # the settings name it
    with watched(observer, progress) as watcher:
        return run(
            task,
            planned,
            sizes,
            model=model,
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
    on_plan: Callable[[CostEstimate, Plan | None], None] | None = None,
    callbacks: Sequence[Tracker | OptunaCallback] = (),
) -> Run:
    """Do what `optimize` does, with its settings in one value; `model` replaces the settings' name of one.

    With `sizes`, the sizes in the settings are planned, except for those that the user has set; without, the settings
    are used unchanged. To resume a run, its task, model, rephrasings and version of psopt must be unchanged, unless
    `force`. `on_plan` is called, before anything is asked, with what the run will take from a model that costs
    something, and with its plan, if it was made now. For a local model, a few answers are timed, and `observer` is
    notified of how long the run will take. `callbacks` record the run in addition to the trackers in the settings.
    """
    if force and not resume:
        raise InputError("--force goes with --resume: add that, or leave it out")
    baseline = settings.baseline(task)
    check_other_wordings(baseline, settings)
    probes = probes_of(settings, task)
    folder = run_folder(settings.model, task, out, resume=resume)
    models = ModelProvider(cache_of(folder if resume else None, cache_dir), settings.lm)
    settings = replace(settings, cache_dir=str(models.cache_dir.absolute()))
    if resume:
        check_same_prompt(folder, settings)
    tracking = tracked(observer, settings.log, callbacks, models.budget)
    with held(folder, resume=resume) as directory, spending_kept(directory, models.budget), tracking:
        setup = Setup.of(task, settings, models, model)
        plan: Plan | None = None
        if sizes is not None:
            settings, plan = SizeChoice(setup, sizes).settings_in(directory)
            setup = replace(setup, settings=settings)
        if plan and on_plan:
            on_plan(plan.estimate, plan)
            on_plan = None
        evaluator = _evaluator(setup, baseline, directory, on_plan, resume=resume)
        proposer = make_proposer(settings, models)
        problem = SearchProblem(task, baseline, evaluator, settings.search, tracking, proposer)
        _check_readable(problem)
        if resume and not directory.has_begun:
            tracking.phase(f"{folder} holds no run yet, so one begins")
        if any(capabilities_of(each).costs_time for each in setup.answering):
            estimate = plan.estimate if plan else _estimate(setup, evaluator, directory)
            _say_how_long(problem, setup, estimate, sizes, resume=resume)
        told = plan.to_dict() if plan else None
        return search_in(directory, problem, settings, plan=told, probes=probes, resume=resume, force=force)


def run_folder(model: str, task: Task, out: str | Path | None, *, resume: bool = False) -> Path:
    """The run directory that is named, otherwise one that is free."""
    if resume and out is None:
        raise InputError("to resume, say which run: out=...")
    return as_path(out, "out") if out else free_folder(Path("runs"), f"{task.name}-{model}")


def _evaluator(
    setup: Setup,
    baseline: Prompt,
    directory: RunDirectory,
    on_plan: Callable[[CostEstimate, Plan | None], None] | None,
    *,
    resume: bool,
) -> Evaluator:
    """Put together what prompts are compared on; first check that the limits pay for the least of it."""
    settings, budget = setup.settings, setup.models.budget
    options = rephrasing_again(settings.rephrasing, directory.path)
    able = [capabilities_of(each) for each in setup.answering]
    if resume and settings.own_model and any(can.costs_time for can in able):
        budget.max_calls = None  # its answers are not cached: all are asked for again
    is_counted = any(can.asks_in_chat or can.costs_time for can in able)
    if not is_counted or not (on_plan or budget.is_limited):
        return setup.frozen_evaluator(options)
    evaluator = setup.frozen_evaluator(options.by_rule())
    if on_plan:
        on_plan(_estimate(setup, evaluator, directory), None)
    check_paid(evaluator, settings, baseline, has_val=(directory.path / FRONT).exists())
    if options.is_written:
        return setup.frozen_evaluator(options)
    return evaluator


def _check_readable(problem: SearchProblem) -> None:
    """Refuse an original prompt that can't be asked about every sample: the run would search nothing, and then fail."""
    if problem.can_read(problem.baseline_prompt):
        return
    samples = itertools.chain(problem.task.train, *problem.evaluator.samples.values())  # train: for label priors
    longest = max(samples, key=lambda sample: len(sample.text))
    raise InputError(
        f"sample {longest.id}, of {len(longest.text):,} characters, is longer with the original prompt than the model "
        "reads: shorten it or leave it out, shorten the prompt, or give a model that reads more"
    )


def _estimate(setup: Setup, evaluator: Evaluator, directory: RunDirectory) -> CostEstimate:
    basis = SearchBasis.of(setup.task, setup.settings, evaluator)
    return basis.estimate(setup.settings, n_evaluated(directory.path / STUDY))


def _say_how_long(
    problem: SearchProblem, setup: Setup, estimate: CostEstimate, sizes: SizeOptions | None, *, resume: bool
) -> None:
    """Time a local model, and report how long the run will take; if that is long, also what takes less."""
    settings = setup.settings
    if resume:
        pace = kept_pace(setup.answering, setup.models)
    else:
        problem.observer.phase(f"timing a few answers of {settings.model}")
        pace = timed_pace(problem.evaluator, problem.baseline_prompt, setup.models)
    if pace is None:
        return
    n_answers = min(n for n in (settings.lm.max_calls, estimate.expected.calls) if n is not None)
    least, effort = None, None
    if sizes and not resume:
        least = least_calls(SizeChoice(setup, sizes).least())
        effort = sizes.effort
    for line in run_lines(n_answers, pace.per_minute, least, effort):
        problem.observer.phase(line)
