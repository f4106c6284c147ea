"""`psopt.optimize`: from a task to a run, the whole job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.api._progress import watched
from psopt.api._prompts import file_of, own_prompt
from psopt.api._run import run
from psopt.api._setup import run_options
from psopt.models import name_of_model
from psopt.rephrasings import given_wordings
from psopt.runs.planning import run_settings
from psopt.tasks import as_task
from psopt.tracking import split_callbacks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from psopt.api._prompts import AnyPrompt
    from psopt.runs import Run
    from psopt.search import Observer
    from psopt.settings import PromptOptions
    from psopt.tasks import Task
    from psopt.tracking import Callback


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
    asked, sizes = run_options(task, settings, model=name_of_model(model), log=log)
    wordings, wordings_name = given_wordings(heldout_from)
    planned = run_settings(
        asked,
        sizes,
        own_model=not by_name,
        prompt=own_prompt(task, prompt, asked.strategy, prompt_options),
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
