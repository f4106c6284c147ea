"""From a program and examples to a front of better programs: what `SensitivityOptimizer` and ``--program`` both do."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.answers import AnswerType
from psopt.api import SearchSetup, check_other_wordings, search_in
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._examples import make_data
from psopt.dspy_programs._find_outcome import find_outcome
from psopt.dspy_programs._identity import code_of, function_identity, identity, make_room, write_identity
from psopt.dspy_programs._instruction_variants import by_model, by_rules, rephrase_instructions
from psopt.dspy_programs._lm import counted_lm, is_free, without_cache
from psopt.dspy_programs._model import ProgramModel
from psopt.dspy_programs._proposals import FeedbackProposer, ProgramProposals
from psopt.dspy_programs._python_words import python_words
from psopt.dspy_programs._saving import write_program
from psopt.dspy_programs._sizing import calls_expected, calls_to_hold_back, sizes_within
from psopt.dspy_programs._step_sensitivity import sensitivity_by_step
from psopt.errors import BudgetReachedError, InputError
from psopt.evaluation import Evaluator
from psopt.models.chat import Need, stay_here
from psopt.proposals.llm import LLMProposer
from psopt.runs import MANIFEST, Sizes, free_folder, held, recommendation_lines, sized
from psopt.search_spaces import Prompt
from psopt.tasks import FREE, ORDINAL, AnswerSpec, in_order, subset

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psopt.dspy_programs._examples import Given, ProgramData
    from psopt.dspy_programs._instruction_variants import InstructionVariants
    from psopt.dspy_programs._metric import Metric
    from psopt.dspy_programs._outcome import Equivalence, Outcome
    from psopt.evaluation import Split
    from psopt.models import ModelProvider
    from psopt.runs import DataOptions, Run, RunDirectory, RunSettings
    from psopt.search import Observer
    from psopt.tasks import Sample, Task


_DEMONSTRATIONS_ALLOWED = 16
"""What DSPy's BootstrapFewShotWithRandomSearch puts into a program by default (`max_labeled_demos`)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Compilation:
    """What a program is compiled with.

    Attributes
    ----------
    settings : RunSettings
        As run.json keeps them. Of a program that was given in Python the data set, the model and the number of samples
        are filled in.
    models : ModelProvider
    task_model, rephraser, judge, proposer : str, dspy.LM or None
        None: the one of DSPy's settings, rules, none, rules.
    uses_engine : bool
        Whether a `dspy.LM` too is asked through psopt's engine; one that is given by name always is.
    n_threads : int
    observer : Observer
    folder : path, optional
        The run directory; a run that is there already is resumed, if `force` also one that differs.
    task : Task, optional
        Where the examples come from; the run has its name, its definitions and its origin.
    label_field : str, optional
    metric, equivalence : callable, optional
    teacher : dspy.Module, optional
    max_errors : int
        On how many texts the program, or the metric, may fail.
    most_calls : int or None
        How many calls of language models the sizes are to be chosen by; None where the settings have them.
    """

    settings: RunSettings
    models: ModelProvider
    task_model: Any
    rephraser: Any
    judge: Any
    proposer: Any
    uses_engine: bool
    n_threads: int
    observer: Observer
    folder: Path | None = None
    force: bool = False
    task: Task | None = None
    label_field: str | None = None
    metric: Metric | None = None
    equivalence: Equivalence | None = None
    teacher: Any = None
    max_errors: int = 0
    most_calls: int | None = None

    def as_asked(self, lm: Any) -> Any:
        """A language model as it is asked: through psopt's engine, or at least without DSPy's cache."""
        if isinstance(lm, str) or (self.uses_engine and not is_free(lm)):
            return counted_lm(lm, self.models)
        return without_cache(lm)


@dataclass(frozen=True, eq=False)
class Compiled:
    """What a compilation has found.

    Attributes
    ----------
    run : Run
    program_of : callable
        A prompt's program.
    programs : mapping of prompt id to dspy.Module
        Of the baseline, the front, the shortest and the recommended prompt.
    sensitivity_by_step : dict of step to float
    failures : dict of text to str
        The first error of each text that the program, or the metric, failed on.
    """

    run: Run
    program_of: Callable[[Prompt], Any]
    programs: Mapping[str, Any]
    sensitivity_by_step: dict[str, float]
    failures: dict[str, str]


def compile_program(student: Any, splits: Mapping[str, Sequence[Given]], compilation: Compilation) -> Compiled:
    """Search for better programs on examples of train, val and test.

    Raises
    ------
    PsoptError
        If something given can't be used (before any call), or the language model fails.
    """
    examples = [given.example for given in (*splits["train"], *splits["val"])]
    outcome = find_outcome(
        student,
        examples,
        compilation.label_field,
        compilation.equivalence,
        _told(compilation),
        has_metric=compilation.metric is not None,
    )
    data = _data(student, outcome, splits, compilation)
    compilation = replace(compilation, settings=_with_room_for_demonstrations(compilation.settings))
    compilation, data = _planned(student, outcome, data, compilation)
    stay_here()
    with _dspy_settings(student, compilation):
        return _search(student.deepcopy(), outcome, data, compilation)


def _with_room_for_demonstrations(settings: RunSettings) -> RunSettings:
    search = settings.search
    parts = replace(search.parts, examples_allowed=_DEMONSTRATIONS_ALLOWED)
    return replace(settings, search=replace(search, parts=parts))


def _planned(
    student: Any, outcome: Outcome, data: ProgramData, compilation: Compilation
) -> tuple[Compilation, ProgramData]:
    """Choose the sizes where calls are limited, say what is expected, and hold the final test's calls back."""
    settings, task = compilation.settings, data.task
    n_steps = len(student.named_predictors())
    races = compilation.metric is None and outcome.equivalence is None and task.spec.kind != FREE
    available = {"train": len(task.train), "val": len(task.val), "test": len(task.test)}
    budget = compilation.models.budget
    if compilation.most_calls is not None:
        sizes = sizes_within(compilation.most_calls, n_steps, available, races=races)
        settings = sized(settings, sizes)
        seed = settings.seed
        task = replace(
            task,
            train=subset(task.train, sizes.train, seed=seed, by_label=not task.spec.is_open),
            val=subset(task.val, sizes.val, seed=seed, by_label=not task.spec.is_open),
            test=subset(task.test, sizes.test, seed=seed, by_label=not task.spec.is_open),
        )
    else:
        search = settings.search
        sizes = Sizes(
            **available,
            rephrasings=settings.rephrasings,
            heldout=settings.heldout,
            trials=search.trials,
            rounds=search.rounds,
        )
    expected = calls_expected(sizes, n_steps, races=races)
    compilation.observer.phase(expected.line)
    if budget.max_calls is not None and expected.total > budget.max_calls:
        compilation.observer.phase(f"max_calls={budget.max_calls} is below that, and ends the search before")
    n_wordings = len(settings.heldout_from)
    budget.held_back = Need(calls_to_hold_back(sizes, n_steps, budget.max_calls, n_other_wordings=n_wordings))
    return replace(compilation, settings=settings), replace(data, task=task)


def _told(compilation: Compilation) -> AnswerSpec | None:
    """What answers are, if that was said, by the data or by the caller; an order of labels is told apart."""
    if compilation.task is not None:
        return compilation.task.spec if compilation.task.spec.is_open else None
    told = compilation.settings.data.answers
    if told is None or told == ORDINAL:
        return None
    if compilation.equivalence is not None:
        raise InputError(f"answers={told!r} says when two answers are the same, and so does equivalence: give one")
    spec = AnswerSpec.read("SensitivityOptimizer", told)
    if compilation.metric is not None and spec.measure and not spec.is_exact:
        raise InputError(f"answers={told!r} says what an answer is worth, and so does metric: give one of them")
    return spec


def _data(
    student: Any, outcome: Outcome, splits: Mapping[str, Sequence[Given]], compilation: Compilation
) -> ProgramData:
    """The examples as a task; where they come from one, with the labels checked against its own."""
    instructions = dict(student.named_predictors())[outcome.step].signature.instructions
    description = " ".join(instructions.split())
    name = type(student).__name__.lower()
    data = make_data(name, description, outcome, splits, compilation.settings.rephrasings)
    like = compilation.task
    if like is None:
        return replace(data, task=_ordered(data.task, outcome, compilation.settings.data))
    if set(like.labels) != set(data.task.labels):
        raise InputError(
            f"the program's labels are {', '.join(data.task.labels)}; the data's are {', '.join(like.labels)}"
        )
    labels = like.labels if like.positions else data.task.labels
    task = replace(
        data.task,
        name=like.name,
        labels=labels,
        positions=like.positions,
        definitions=like.definitions,
        noun=like.noun,
        info=like.info,
    )
    return replace(data, task=task)


def _dspy_settings(student: Any, compilation: Compilation) -> Any:
    """DSPy's settings with the task model.

    Raises
    ------
    InputError
        If there is no language model at all.
    """
    lm = compilation.task_model if compilation.task_model is not None else dspy.settings.lm
    if lm is not None:
        return dspy.context(lm=compilation.as_asked(lm))
    if any(predictor.lm is None for _, predictor in student.named_predictors()):
        raise InputError("no language model: use dspy.configure(lm=dspy.LM(..)), or give task_model=..")
    return contextlib.nullcontext()


def _ordered(task: Task, outcome: Outcome, told: DataOptions) -> Task:
    """The task with its labels in the order that was told."""
    if told.answers != ORDINAL:
        return task
    if outcome.equivalence is not None:
        raise InputError("answers='ordinal' is for labels, and an equivalence for free text: give one of them")
    labels, positions = in_order("the program's labels", task.labels, told.order)
    return replace(task, labels=labels, positions=positions)


def _search(student: Any, outcome: Outcome, data: ProgramData, compilation: Compilation) -> Compiled:
    models, task = compilation.models, data.task
    folder = compilation.folder or free_folder(Path("runs"), type(student).__name__.lower())
    variants = _variants(student, outcome, task, compilation)
    model = ProgramModel(
        student,
        outcome,
        data.examples,
        variants,
        folder,
        models.budget,
        metric=compilation.metric,
        teacher=compilation.teacher,
        n_threads=compilation.n_threads,
        assessor=models.assessor(task.spec),
        as_asked=compilation.as_asked,
        max_errors=compilation.max_errors,
        judged_by="-".join([code_of(student), function_identity(compilation.metric)]),
    )
    samples: dict[Split, tuple[Sample, ...]] = {"train": task.train, "val": task.val, "test": task.test}
    evaluator = Evaluator(model, variants.rephrasings, samples, budget=models.budget, answer_type=AnswerType.of(task))
    baseline = Prompt(variants.rephrasings.search[0], task.labels, task.noun, asks=task.spec.form)
    check_other_wordings(baseline, compilation.settings)
    now = identity(student, _facts(task, model, evaluator, compilation))
    is_of_python = compilation.settings.program == "python"
    if is_of_python and (said := make_room(folder, now)):
        compilation.observer.phase(said)
    resume = (folder / MANIFEST).exists()
    with held(folder, resume=resume) as directory:
        texts = [sample.text for sample in task.train]
        shares = sensitivity_by_step(model, baseline, texts, AnswerType.of(task))
        setup = SearchSetup(
            task,
            _recorded_settings(compilation.settings, task, model),
            baseline,
            evaluator,
            _proposer(outcome, model, compilation),
            ProgramProposals(model, shares, compilation.settings.search.parts.examples_allowed),
        )
        run = _run(directory, setup, compilation, now if is_of_python else {}, resume=resume)
    if model.failures.line:
        compilation.observer.phase(model.failures.line)
    if run.recommendation:
        sentence = recommendation_lines(run.recommendation.to_dict())[0]
        compilation.observer.phase(python_words(sentence) if is_of_python else sentence)
    return Compiled(
        run,
        lambda prompt: model.apply(prompt, model.variants.original),
        _write_programs(run, model),
        shares,
        model.failures.by_text,
    )


def _run(
    directory: RunDirectory, setup: SearchSetup, compilation: Compilation, now: dict[str, str], *, resume: bool
) -> Run:
    """Search; in Python a limit ends that and no more: what was found is handed back."""
    try:
        run = search_in(directory, setup, resume=resume, force=compilation.force, observer=compilation.observer)
    except BudgetReachedError as error:
        if error.run is None or compilation.settings.program != "python":
            raise
        compilation.observer.phase(python_words(str(error)))
        run = error.run
    finally:
        if now and directory.has_begun:
            write_identity(directory.path, now)
    return run


def _facts(task: Task, model: ProgramModel, evaluator: Evaluator, compilation: Compilation) -> dict[str, str]:
    """What decides a run beside the program, by what it is called."""
    rephrasings = evaluator.rephrasings
    return {
        "the examples": task.info.sha256[:16],
        "how many of them are used": "/".join(str(len(split)) for split in (task.train, task.val, task.test)),
        "the outcome": f"{model.outcome.step}.{model.outcome.field} {task.answers}",
        "the metric": function_identity(compilation.metric),
        "the equivalence": function_identity(compilation.equivalence),
        "the teacher": "" if compilation.teacher is None else code_of(compilation.teacher),
        "the language model": model.identity,
        "the wordings": rephrasings.sha256[:16],
        "the seed": str(compilation.settings.seed),
    }


def _variants(student: Any, outcome: Outcome, task: Task, compilation: Compilation) -> InstructionVariants:
    settings = compilation.settings
    if compilation.rephraser is None:
        rephrase = by_rules(task, settings.rephrasings, settings.heldout, settings.seed)
    else:
        rephrase = by_model(
            task,
            settings.rephrasings,
            settings.heldout,
            compilation.models,
            compilation.rephraser,
            compilation.judge,
            keep_labels=settings.rephrasing.keep_labels,
        )
    variants = rephrase_instructions(student, outcome.step, rephrase)
    return variants.with_outcome_said_as(settings.heldout_from, outcome.step)


def _proposer(outcome: Outcome, model: ProgramModel, compilation: Compilation) -> LLMProposer | None:
    """What drafts notes and definitions; of free text none can say where it belongs."""
    if compilation.proposer is None or outcome.equivalence is not None:
        return None
    writer = compilation.models.writer(compilation.proposer)
    return LLMProposer(writer) if compilation.metric is None else FeedbackProposer(writer, model=model)


def _recorded_settings(settings: RunSettings, task: Task, model: ProgramModel) -> RunSettings:
    if settings.program != "python":
        return settings
    samples = max(len(task.train), len(task.val))
    data = replace(settings.data, dataset=task.name)
    return replace(settings, data=data, model=model.name, samples=samples)


def _write_programs(run: Run, model: ProgramModel) -> dict[str, Any]:
    """Write every program of the run to its directory, and return them by the id of their prompt."""
    candidates = {candidate.id: candidate for candidate in (run.baseline, *run.front, run.short, run.recommended)}
    programs = {
        prompt_id: model.apply(candidate.prompt, model.variants.original) for prompt_id, candidate in candidates.items()
    }
    for prompt_id, program in programs.items():
        write_program(program, run.path, prompt_id)
    return programs
