"""`psopt.optimize`: from a task to a run, the whole job."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from psopt._version import __version__
from psopt.api._limits import check_limits, is_limited, unwritten
from psopt.errors import BudgetReachedError, InputError, say_how_to_go_on
from psopt.evaluation import Evaluator, Split
from psopt.models import ModelProvider, capabilities_of
from psopt.models.chat import CHAT_KINDS, LMConfig
from psopt.proposals import propose_edits
from psopt.proposals.llm import LLMProposer
from psopt.rephrasings import RephrasingOptions, freeze_rephrasings, read_families, to_file
from psopt.report import write_report
from psopt.runs import ARTIFACTS, FRONT, REPHRASINGS, STUDY, Record, RunSettings, free_folder, held, study_name
from psopt.search import (
    Observer,
    Reserve,
    Search,
    SearchOptions,
    StudyMetadata,
    knee,
    leave_one_out,
    open_study,
    pick,
    score_on_test,
    scoring_order,
    write_metadata,
)
from psopt.search_spaces import SearchRestriction, seed_prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    import optuna
    from psopt.rephrasings import RephrasingSet
    from psopt.runs import RunDirectory
    from psopt.search import Candidate, Propose, SamplerName
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task

N_HELDOUT = 10
_LEFT_OUT = 8  # edits whose contribution is measured where a further evaluation costs next to nothing


@dataclass(frozen=True, eq=False)
class Run:
    """What an optimization found.

    Attributes
    ----------
    path : Path
        The run directory.
    baseline : Candidate
        The seed prompt, scored on val and test.
    front : tuple of Candidate
        The Pareto front by falling F1 on val, scored on val and test; `test` is None where a limit did not allow it.
    short : Candidate
        The prompt with fewest edits that is no worse than the knee by more than one standard error on val; perhaps the
        knee itself, perhaps not on the front.
    study : optuna.Study
    finish_reason : str
        ``trials`` (the total was reached), ``exhausted`` (nothing new to try) or ``budget`` (a limit was).
    """

    path: Path
    baseline: Candidate
    front: tuple[Candidate, ...]
    short: Candidate
    study: optuna.Study
    finish_reason: str

    def pick(self, which: str = "knee") -> Candidate:
        """Pick ``knee``, ``short``, the best ``f1``, ``sensitivity`` or ``consistency``, an id, or by a wish.

        A wish is ``max F1 with S <= .05`` and the like.
        """
        return pick(self.front, self.baseline, which, self.short)


def optimize(
    task: Task,
    *,
    model: Any = "minilm",
    trials: int = 40,
    rephrasings: int = 10,
    samples: int = 500,
    seed: int = 42,
    strategy: str = "simple",
    sampler: str = "tpe",
    rounds: int = 3,
    out: str | Path | None = None,
    storage: str | None = None,
    study_name: str = "",
    rephraser: str | None = None,
    proposer: str | None = None,
    parts: SearchRestriction | None = None,
    leave_one_out: int | None = None,
    lm: LMConfig | None = None,
    cache_dir: str | Path | None = None,
    resume: bool = False,
    observer: Observer | None = None,
) -> Run:
    """Search for prompts that are right, insensitive and consistent, and score the Pareto front on unseen data.

    Edits are drawn from train, candidates compared on val under the search rephrasings, and the front is scored once
    on test under held-out rephrasings. Everything is written to a run directory as it comes about; Ctrl-C keeps what
    was found.

    Parameters
    ----------
    task : Task
    model : str, dspy.LM or Model
        A name, or a model that is made already.
    trials, rephrasings, samples, seed, strategy, sampler, rounds, storage, study_name, rephraser, proposer, lm
        See `RunSettings`.
    leave_one_out : int, optional
        See `RunSettings`.
    parts : SearchRestriction, optional
        Which views and kinds of edits the search may use, and how far F1 on val may fall.
    out : path, optional
        The run directory, new or empty; by default ``runs/TASK-MODEL``, numbered where that is taken.
    cache_dir : path, optional
        Where embeddings are kept between runs; by default `psopt.models._cache_folder.cache_folder`.
    resume : bool
        Go on with the run in `out`.
    observer : Observer, optional
        Is told how the work goes.

    Raises
    ------
    PsoptError
        If an argument, the task or the run directory can't be used.
    BudgetReachedError
        If a limit ends the search. What was found is scored on test first, as far as that is paid for, and stands in
        the error's `run`.
    """
    settings = RunSettings(
        dataset=task.name,
        model=model if isinstance(model, str) else _name_of(model),
        strategy=strategy,
        seed=seed,
        trials=trials,
        rounds=rounds,
        rephrasings=rephrasings,
        samples=samples,
        sampler=sampler,
        storage=storage,
        study_name=study_name,
        rephraser=rephraser,
        proposer=proposer,
        parts=parts or SearchRestriction(),
        leave_one_out=leave_one_out,
        lm=lm or LMConfig(),
        own_model=not isinstance(model, str),
    )
    given = None if isinstance(model, str) else model
    return carry_out(task, settings, model=given, out=out, cache_dir=cache_dir, resume=resume, observer=observer)


def carry_out(
    task: Task,
    settings: RunSettings,
    *,
    model: Any = None,
    out: str | Path | None = None,
    cache_dir: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
    observer: Observer | None = None,
) -> Run:
    """Do what `optimize` promises, with its settings in one value; `model` goes before the settings' name of one.

    To go on with a run, its task, model, rephrasings and version of psopt must be what they were, unless `force`.
    """
    start = seed_prompt(task, settings.strategy, seed=settings.seed)
    folder = _folder(task, settings, out, resume=resume)
    run = folder if resume else None
    models = ModelProvider(cache_dir, settings.lm)
    _check_limits(task, start, settings, models, model, run)
    with held(folder, resume=resume) as directory:
        rephrasings = freeze_run_rephrasings(task, start, settings, models, run)
        evaluator = make_evaluator(task, settings, models, rephrasings, model)
        proposer = make_proposer(settings, models)
        return _search_in(
            directory, task, settings, start, evaluator, proposer, resume=resume, force=force, observer=observer
        )


def _folder(task: Task, settings: RunSettings, out: str | Path | None, *, resume: bool) -> Path:
    if resume and out is None:
        raise InputError("to resume, say which run: out=...")
    return Path(out) if out else free_folder(Path("runs"), f"{task.name}-{settings.model.replace('/', '-')}")


def _check_limits(
    task: Task, start: Prompt, settings: RunSettings, models: ModelProvider, model: Any, run: Path | None
) -> None:
    """Refuse limits that can't pay for the least, before a rephraser or anybody else is asked."""
    may_cost = model is not None or settings.model.partition("/")[0] in CHAT_KINDS
    if may_cost and is_limited(settings.lm):
        begun = run is not None and (run / FRONT).exists()
        rephrasings = freeze_run_rephrasings(task, start, unwritten(settings), models, run)
        check_limits(make_evaluator(task, settings, models, rephrasings, model), start, has_val=begun)


def search_and_record(
    task: Task,
    settings: RunSettings,
    start: Prompt,
    evaluator: Evaluator,
    proposer: LLMProposer | None = None,
    *,
    propose: Propose = propose_edits,
    out: str | Path | None = None,
    resume: bool = False,
    force: bool = False,
    observer: Observer | None = None,
) -> Run:
    """Search from a seed prompt with what compares prompts and what proposes edits; write the run directory."""
    with held(_folder(task, settings, out, resume=resume), resume=resume) as directory:
        return _search_in(
            directory,
            task,
            settings,
            start,
            evaluator,
            proposer,
            propose=propose,
            resume=resume,
            force=force,
            observer=observer,
        )


def _search_in(
    directory: RunDirectory,
    task: Task,
    settings: RunSettings,
    start: Prompt,
    evaluator: Evaluator,
    proposer: LLMProposer | None = None,
    *,
    propose: Propose = propose_edits,
    resume: bool = False,
    force: bool = False,
    observer: Observer | None = None,
) -> Run:
    """Do what `search_and_record` promises in a folder that is held; write down how it ended, also if it broke off."""
    observer = observer or Observer()
    options = SearchOptions(
        settings.trials, settings.rounds, cast("SamplerName", settings.sampler), settings.seed, settings.parts
    )
    evaluator.show_progress(observer.answers)
    observer.budget = evaluator.budget
    record = Record(directory, task, settings, evaluator)
    if resume and not force:
        record.check_same()
    worker = f"optimize-{uuid.uuid4().hex[:6]}" if settings.storage else ""
    search: Search | None = None
    try:
        study = _begin(record, start, options, observer, resume=resume)
        search = Search(
            task,
            start,
            evaluator,
            study,
            options,
            observer,
            proposer,
            directory.path / ARTIFACTS,
            propose,
            worker=worker,
        )
        reserve = Reserve(evaluator)
        reserve.watch(search)
        stopped = _run(search, settings)
        reserve.end()
        run, met = _finish(record, search, start, stopped)
    except BaseException as error:
        if directory.has_begun:
            record.save_broken_off(search, error)
            say_how_to_go_on(error, _go_on(settings, directory.path))
        raise
    if met:
        raise BudgetReachedError(f"{met}; {_go_on(settings, directory.path)}", run) from stopped
    return run


def _begin(record: Record, start: Prompt, options: SearchOptions, observer: Observer, *, resume: bool) -> optuna.Study:
    """Write down what the run is about, and open its study; nothing is left where that can't be opened."""
    directory, settings = record.directory, record.settings
    name = None if settings.storage or not resume else study_name(directory.path / STUDY)
    record.save(None, (), "running")
    record.save_rephrasings()
    try:
        study = open_study(
            settings.storage or directory.storage_url,
            name or settings.study_name or directory.path.resolve().name,
            options.sampler,
            settings.seed,
            resume=resume,
        )
    except InputError:
        if not record.before:
            directory.discard()
        raise
    observer.started(record.task, directory.path)
    _describe(study, record, start)
    return study


def _finish(record: Record, search: Search, start: Prompt, stopped: BudgetReachedError | None) -> tuple[Run, str]:
    """Score the front on test, measure what edits contribute, and write the run's files; say if a limit was met."""
    settings, evaluator = record.settings, record.evaluator
    search.observer.phase("scoring the front on test, under held-out rephrasings")
    baseline, front, short, unpaid = _on_test(search, settings.seed)
    chosen = knee(front, baseline)
    if chosen.test is None:
        raise stopped or BudgetReachedError("the limit does not pay the knee's test")
    most = settings.leave_one_out
    if most is None:
        most = _LEFT_OUT if capabilities_of(evaluator.model).is_free else 0
    if stopped:
        most = 0
    contributions = record.known_contributions(chosen, most)
    if contributions is None:
        contributions = _contributions(chosen, start, search, most, settings.seed)
    reason = "trials" if len(search.candidates) >= settings.trials else "exhausted"
    if stopped or unpaid:
        reason = "budget"
    record.save(baseline, front, reason, short)
    record.save_prompts(baseline, front, short)
    record.save_for_report(search, contributions)
    record.save_proposals(search)
    write_report(record.directory)
    run = Run(record.directory.path, baseline, front, short, search.study, reason)
    return run, _end(stopped, unpaid) if stopped or unpaid else ""


def _run(search: Search, settings: RunSettings) -> BudgetReachedError | None:
    """Search until there is nothing left to do, or a limit is reached: then what was found is still to be scored.

    A program's calls are not known before, and nothing is held back for it: its limit ends everything.
    """
    try:
        search.run()
    except BudgetReachedError as error:
        if settings.program or not search.candidates:
            raise
        return error
    return None


def _end(stopped: BudgetReachedError | None, unpaid: Sequence[Candidate]) -> str:
    """Say how a run that met a limit has ended."""
    if not unpaid:
        return f"{stopped}; the front that was found is scored on test"
    names = ", ".join(one.id for one in unpaid)
    why = stopped or "the limit is reached"
    return f"{why}; the front that was found is scored on test but for {len(unpaid)} that could not be paid ({names})"


def _go_on(settings: RunSettings, folder: Path) -> str:
    """Say where the work so far is, and how to go on with it."""
    how = f"compile again with log_dir={str(folder)!r}" if settings.program == "python" else f"psopt resume {folder}"
    return f"what was found is in {folder}; go on with: {how}"


def freeze_run_rephrasings(
    task: Task, prompt: Prompt, settings: RunSettings, models: ModelProvider, run: Path | None = None
) -> RephrasingSet:
    """Freeze the rephrasings that all prompts of a run are put to; those of the run in the folder `run` again."""
    kept = run / REPHRASINGS if run else None
    given = Path(settings.rephrasings_file) if settings.rephrasings_file else None
    options = RephrasingOptions(
        settings.rephraser,
        settings.judge,
        kept if kept and kept.exists() else given,
        settings.keep_labels,
        read_families(settings.vary),
    )
    return freeze_rephrasings(
        task, prompt.description, settings.rephrasings, N_HELDOUT, settings.seed, options, models=models
    )


def make_evaluator(
    task: Task, settings: RunSettings, models: ModelProvider, rephrasings: RephrasingSet, model: Any = None
) -> Evaluator:
    """Put together what all prompts of a task are compared on: a model, rephrasings, and a choice of samples."""
    answering = models.answering(model or settings.model, task)
    samples = split_samples(task, settings)
    return Evaluator(answering, rephrasings, samples, from_probabilities=settings.lm.logprobs, budget=models.budget)


def split_samples(task: Task, settings: RunSettings) -> dict[Split, tuple[Sample, ...]]:
    """The samples that prompts are compared on: train and val cut to the settings' number, test whole."""
    train, val = (subset(samples, settings.samples, seed=settings.seed) for samples in (task.train, task.val))
    return {"train": train, "val": val, "test": task.test}


def _describe(study: optuna.Study, record: Record, start: Prompt) -> None:
    """Let the study say what it is about."""
    import optuna as installed

    for name, value in {
        "task": record.task.name,
        "dataset_sha256": record.task.info.sha256,
        "model": record.settings.model,
        "rephrasings_sha256": record.evaluator.rephrasings.sha256,
        "psopt_version": __version__,
        "optuna_version": installed.__version__,
    }.items():
        study.set_user_attr(name, value)
    if record.settings.storage:
        settings = {**record.settings.to_dict(), "storage": None, "command": ""}
        words = to_file(record.evaluator.rephrasings)
        write_metadata(study, StudyMetadata(settings, record.task.info.sha256, start.to_dict(), words, __version__))


def make_proposer(settings: RunSettings, models: ModelProvider) -> LLMProposer | None:
    """Make the model that drafts edits, where there is one beside the rules."""
    if settings.proposer is None or settings.proposer == "rules":
        return None
    return LLMProposer(models.writer(settings.proposer))


def _name_of(model: Any) -> str:
    return str(getattr(model, "name", None) or f"dspy/{getattr(model, 'model', type(model).__name__)}")


def _contributions(chosen: Candidate, start: Prompt, search: Search, most: int, seed: int) -> dict[str, Any]:
    """Build contributions.json: what edits add, as far as that is asked for and the budget goes."""
    if most and chosen.edits:
        search.observer.phase(f"leaving edits out of {chosen.id}")
    try:
        found = leave_one_out(chosen, start, search.evaluator, search.candidates, search.pool, most=most, seed=seed)
    except BudgetReachedError:  # what matters is done
        search.observer.phase("the limit is reached: what edits contribute is not measured")
        found, most = [], 0
    left_out = [one.to_dict() for one in found]
    return {"schema_version": 1, "prompt": chosen.id, "most": most, "left_out": left_out}


def _on_test(search: Search, seed: int) -> tuple[Candidate, tuple[Candidate, ...], Candidate, list[Candidate]]:
    """Score the baseline, the front and the short prompt on val and test with intervals; also say who is not paid."""
    front, short = search.front, search.shortest
    scored, unpaid = score_on_test(search, scoring_order(search.baseline, front, short), seed)
    return (
        scored[search.baseline.id],
        tuple(scored.get(one.id, one) for one in front),
        scored.get(short.id, short),
        unpaid,
    )
