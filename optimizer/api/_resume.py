"""An existing run: `psopt.resume` continues it, `psopt.load_run` reads it, `psopt.worker` joins its study."""

from __future__ import annotations

import os
import socket
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt._version import __version__
from psopt.api._optimize import run as run_settings
from psopt.api._progress import watched
from psopt.api._searching import call_that_resumes
from psopt.api._setup import Setup, make_proposer
from psopt.errors import BudgetReachedError, InputError
from psopt.models import ModelProvider
from psopt.rephrasings import from_file
from psopt.report import run_figure
from psopt.runs import MANIFEST, Run, RunDirectory, RunSettings, read_run
from psopt.runs.planning import with_changed_limits
from psopt.search import Observer, Search, SearchProblem, join_study
from psopt.search_spaces import Prompt
from psopt.settings import LMConfig, RunOptions, SizeOptions, all_leaves, built, check_keywords
from psopt.tracking import Callback, split_callbacks, tracker_names

if TYPE_CHECKING:
    from collections.abc import Iterable


def resume(
    run: str | Path,
    *,
    cache_dir: str | Path | None = None,
    force: bool = False,
    observer: Observer | None = None,
    progress: bool | None = None,
    callbacks: Iterable[Callback] | None = None,
    **changes: Any,
) -> Run:
    """Resume an interrupted run, or add trials to a finished one.

    Answers that were paid for are not asked again. Limits count from the run's beginning, even if it was killed; a new
    one replaces the earlier one, or the effort's.

    Raises PsoptError if there is no run that can be resumed in this way, or its data are not available, and
    BudgetReachedError as `optimize` does.

    Parameters
    ----------
    run : path
        The run directory.
    force : bool
        Even if the data, the rephrasings or psopt's version have changed.
    callbacks : iterable, optional
        What records the run from now on, as in `optimize`; by default the trackers that it has had, by name. Trackers
        continue what they have begun, and new ones receive all earlier trials.
    **changes
        What differs from now on, by name: ``trials`` (a new total), ``leave_one_out``, ``race``, ``max_prompt_tokens``,
        ``storage`` (if it needs a password that is stored nowhere), ``api_base``, ``max_cost`` and others of
        `LMConfig`.
    cache_dir, observer, progress
        As in `optimize`.
    """
    if "log" in changes:
        raise InputError("trackers are given by callbacks=, by name or as objects")
    names, objects = (None, ()) if callbacks is None else split_callbacks(callbacks)
    settings = settings_to_resume(run, log=names, **changes)
    if settings.program:
        raise InputError(f"{run} is of a DSPy program: resume it with `psopt resume {run}`")
    with watched(observer, progress) as watcher:
        return run_settings(
            settings.load_task(),
            settings,
            out=run,
            cache_dir=cache_dir,
            resume=True,
            force=force,
            observer=watcher,
            callbacks=objects,
        )


def settings_to_resume(run: str | Path, **changes: Any) -> RunSettings:
    """The settings of a run, with changes that apply from now on; None changes nothing. Raises InputError."""
    leaves = [*all_leaves(SizeOptions), *all_leaves(RunOptions)]
    may_change = (leaf.key for leaf in leaves if leaf.option and "resume" in leaf.option.changed_by)
    check_keywords(changes, LMConfig, also=tuple(may_change))
    wanted = {name: value for name, value in changes.items() if value is not None}
    manifest = RunDirectory.open(run).read_json(MANIFEST)
    settings = with_changed_limits(RunSettings.from_dict(manifest["settings"]), wanted)
    if settings.program == "python":
        raise InputError(
            f"{run} is of a program that was compiled in Python: compile it again with log_dir={str(run)!r}"
        )
    made = f"a model object in Python ({settings.model}), which no name loads" if settings.own_model else ""
    if settings.has_own_task(manifest["dataset"]["source"]):
        made = made or "a task made in Python"
    if made:
        raise InputError(f"{run} was made with {made}: resume with {call_that_resumes(run)}")
    if "log" in wanted:
        wanted["log"] = tracker_names(wanted["log"])
    if "headers" in wanted:
        wanted["headers"] = {**settings.lm.headers, **wanted["headers"]}
    return built(RunSettings, wanted, settings, facts=True)


def load_run(path: str | Path, *, storage: str | None = None) -> Run:
    """Load a run to look at it: nothing is asked and nothing written, even while another process works on it.

    An interrupted run has its front with scores on val. For a run in progress, or one that was killed, the front is
    that of the trials so far, without intervals and without the size limit. `finish_reason` tells them apart.

    Raises InputError if there is no run, if nothing was evaluated yet, or a file is missing or damaged.

    Parameters
    ----------
    path : path
        The run directory.
    storage : str, optional
        The study's storage, if it needs a password that is stored nowhere.
    """
    return replace(read_run(path, storage), draw=run_figure)


def worker(
    storage: str,
    study_name: str,
    *,
    trials: int | None = None,
    dataset: str | None = None,
    cache_dir: str | Path | None = None,
    observer: Observer | None = None,
    **lm_changes: Any,
) -> int:
    """Propose and evaluate until the study's total of trials is reached; return how many prompts this worker evaluated.

    Task, prompt, rephrasings and edits come from the study; samples are loaded here, and must be the same.

    Raises PsoptError if the study can't be joined, or the data differ.

    Parameters
    ----------
    storage, study_name : str
        As given to `psopt optimize`.
    trials : int, optional
        Stop after this many of the worker's own.
    dataset : str, optional
        Where the data are on this machine, if they are somewhere else.
    cache_dir, observer : optional
    **lm_changes
        Fields of `LMConfig` that differ here, such as ``api_base`` and ``concurrency``.
    """
    observer = observer or Observer()
    study = join_study(storage, study_name, seed=uuid.uuid4().int % 2**31, tell=observer.phase)
    metadata = study.read_metadata()
    settings = RunSettings.from_dict(metadata.settings)
    if settings.program:
        raise InputError("a worker can't join the study of a DSPy program: it has no code of it")
    if metadata.psopt_version != __version__:
        raise InputError(f"the study is of psopt {metadata.psopt_version}, this is {__version__}: install the same")
    data = replace(settings.data, dataset=dataset or settings.data.dataset)
    settings = replace(settings, data=data, lm=settings.lm.changed(**lm_changes))
    task = settings.load_task()
    own, of_study = task.info.sha256, metadata.dataset_sha256
    if own != of_study:
        raise InputError(
            f"the data here are not those of the study: {settings.data.dataset} has sha256 {own[:12]}.., the study's "
            f"{of_study[:12]}..; say where the same data are with --dataset (and PSOPT_DATA_DIR)"
        )
    models = ModelProvider(cache_dir, settings.lm)
    evaluator = Setup.of(task, settings, models).evaluator(from_file(metadata.rephrasings))
    evaluator.show_progress(observer.answers)
    observer.started(task, Path(study_name))
    prompt = Prompt.from_dict(metadata.prompt)
    problem = SearchProblem(task, prompt, evaluator, settings.search, observer, make_proposer(settings, models))
    name = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
    search = Search(study, problem, worker=name, most_own=trials)
    try:
        search.run(completes_front=False)  # the process of `psopt optimize` does that
    except BudgetReachedError as error:
        raise BudgetReachedError(f"{error}; other workers go on, and so can this one") from error
    return search.n_own
