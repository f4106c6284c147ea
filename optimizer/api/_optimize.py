"""`psopt.optimize`: from a task to a run, the whole job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.api._progress import watched
from psopt.api._prompts import file_of, own_prompt
from psopt.api._run import run
from psopt.models import name_of_model
from psopt.models.chat import LMConfig
from psopt.rephrasings import RephrasingOptions, given_wordings
from psopt.runs import AskedSizes, DataOptions, PlanOptions, RunSettings, asked_for
from psopt.search import MARGIN, SearchOptions
from psopt.search_spaces import SearchRestriction
from psopt.tracking import split_callbacks

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from psopt.api._prompts import AnyPrompt
    from psopt.runs import Effort, PromptOptions, Run
    from psopt.search import GateMode, Observer, RaceMode, SamplerName
    from psopt.tasks import Task
    from psopt.tracking import Callback


def optimize(
    task: Task,
    *,
    prompt: AnyPrompt | None = None,
    prompt_options: PromptOptions | None = None,
    model: Any = "minilm",
    effort: Effort | None = None,
    trials: int | None = None,
    rephrasings: int | None = None,
    samples: int | None = None,
    train_samples: int | None = None,
    test_samples: int | None = None,
    heldout: int | None = None,
    heldout_from: Sequence[str] | str | Path = (),
    seed: int = 42,
    strategy: str = "simple",
    sampler: SamplerName = "tpe",
    rounds: int | None = None,
    race: RaceMode = "auto",
    out: str | Path | None = None,
    storage: str | None = None,
    study_name: str = "",
    rephrasing: RephrasingOptions | None = None,
    rephraser: str | None = None,
    proposer: str | None = None,
    parts: SearchRestriction | None = None,
    max_prompt_tokens: int | None = None,
    no_verbatim: bool = False,
    without: Sequence[str] = (),
    leave_one_out: int | None = None,
    gate: GateMode = "sure",
    gate_margin: float = MARGIN,
    pinned: Collection[str] = (),
    lm: LMConfig | None = None,
    cache_dir: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
    observer: Observer | None = None,
    progress: bool | None = None,
    callbacks: Iterable[Callback] = (),
) -> Run:
    """Search for prompts that are right, insensitive and consistent, and score the Pareto front on unseen data.

    Edits are drawn from train, candidates compared on val under the search rephrasings, and the front is scored once
    on test under held-out rephrasings. Everything is written to a run directory as it comes about; Ctrl-C keeps what
    was found.

    Parameters
    ----------
    task : Task
    prompt : Prompt, path, str or list of messages, optional
        What the run starts from: a prompt, its file, a Python function ``MODULE:NAME``, a text with a line break or a
        brace, or chat messages; by default the seed prompt of `strategy`.
    prompt_options : PromptOptions, optional
        How the prompt's file is read, where it does not say so itself.
    model : str, callable, dspy.LM or Model
        A name; a function that takes chat messages and returns the answer's text, at once or as a coroutine; or a
        model that is made already.
    effort : {"light", "medium", "heavy", "full"}, optional
        How large the run is, as far as its sizes are not given: at most about 5,000, 20,000 or 60,000 calls, the final
        test among them; or 40 trials of 500 samples under 10 wordings, in 3 rounds, and all of test. By default
        ``full`` with minilm and sim, else as the limits in `lm` allow, else ``light``. Of a model that answers here a
        few answers are timed first, and `observer` is told how long the run will take.
    trials, rounds
        See `SearchOptions`; chosen by `effort` unless given.
    rephrasings, samples, train_samples, test_samples, heldout
        See `RunSettings`; chosen by `effort` unless given.
    sampler, race
        See `SearchOptions`.
    strategy, storage, study_name, proposer, leave_one_out, gate, gate_margin, pinned
        See `RunSettings`; the gate decides what `Run.recommended` is.
    heldout_from : sequence of str, or path, optional
        Wordings of another source, written by people for instance: what is handed back is put to them on test too,
        and run.json and the report say both. A text file has one a line; JSON is a list, or a rephrasings.json.
    seed : int
        Seeds everything that is drawn; 0 is a seed.
    rephrasing : RephrasingOptions, optional
        Where rephrasings come from, who judges them, and of which families they are.
    rephraser : str, optional
        A model that writes them: short for ``rephrasing=RephrasingOptions(rephraser=..)``.
    parts : SearchRestriction, optional
        Which views and kinds of edits the search may use, and how far F1 on val may fall.
    max_prompt_tokens : int, optional
        Most tokens a call of a prompt that is handed back: short for
        ``parts=SearchRestriction(max_prompt_tokens=..)``.
    no_verbatim : bool
        Let no text of a sample into a prompt (see `psopt.proposals.NoVerbatim`): short for
        ``parts=SearchRestriction(no_verbatim=True)``.
    without : sequence of str
        Ids of edits that are never used: short for ``parts=SearchRestriction(without=..)``.
    lm : LMConfig, optional
        How language models are asked, and what they may cost.
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
        Who records the run: ``"mlflow"``, ``"wandb"`` or ``"otel"``, with an experiment or a project after a colon
        (``"mlflow:tickets"``); a `psopt.tracking.Tracker`; or a function that is called after each trial as Optuna's
        callbacks are, ``callback(study, trial)``. One that fails is left out from then on, and the run goes on.

    Raises
    ------
    PsoptError
        If an argument, the task or the run directory can't be used.
    BudgetReachedError
        If a limit of yours ends the search. What was found is scored on test first, as far as that is paid for, and
        stands in the error's `run`. An effort's own limit is no error: the run says ``budget``.
    """
    by_name = isinstance(model, str)
    log, callbacks = split_callbacks(callbacks)
    restriction = parts or SearchRestriction()
    if max_prompt_tokens is not None:
        restriction = replace(restriction, max_prompt_tokens=max_prompt_tokens)
    if no_verbatim:
        restriction = replace(restriction, no_verbatim=True)
    if without:
        restriction = replace(restriction, without=tuple(without))
    sizes = AskedSizes.of(samples, train_samples, test_samples, rephrasings, heldout, trials, rounds)
    wordings, wordings_name = given_wordings(heldout_from)
    settings = RunSettings(
        data=DataOptions(task.name),
        model=name_of_model(model),
        strategy=strategy,
        rephrasing=rephrasing or RephrasingOptions(rephraser),
        search=SearchOptions(sampler=sampler, seed=seed, parts=restriction, race=race),
        lm=lm or LMConfig(),
        proposer=proposer,
        leave_one_out=leave_one_out,
        gate=gate,
        gate_margin=gate_margin,
        pinned=tuple(pinned),
        storage=storage,
        study_name=study_name,
        own_model=not by_name,
        prompt=own_prompt(task, prompt, strategy, prompt_options),
        prompt_file=file_of(prompt),
        log=log,
        heldout_from=wordings,
        heldout_from_name=wordings_name,
    )
    with watched(observer, progress) as watcher:
        return run(
            task,
            asked_for(settings, sizes),
            PlanOptions(effort, sizes),
            model=None if by_name else model,
            out=out,
            cache_dir=cache_dir,
            resume=resume,
            force=force,
            observer=watcher,
            callbacks=callbacks,
        )
