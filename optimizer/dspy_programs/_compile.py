"""From a program and examples to a front of better programs: shared by `SensitivityOptimizer` and ``--program``."""

from __future__ import annotations

import contextlib
import uuid
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from psopt.answers import AnswerType
from psopt.api import check_other_wordings, search_in
from psopt.dspy_programs._compilation import Compiled, kept_candidates
from psopt.dspy_programs._contents import copy_of, digest, unknown_parts
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._examples import program_data, told_answers
from psopt.dspy_programs._fingerprint import IDENTITY, identity, make_room
from psopt.dspy_programs._model import ProgramModel, rephrase_instructions
from psopt.dspy_programs._outcome import find_outcome
from psopt.dspy_programs._proposals import MOST_TEXTS, FeedbackProposer, ProgramProposals, sensitivity_by_step
from psopt.dspy_programs._python_words import python_words
from psopt.dspy_programs._runner import ProgramRunner
from psopt.dspy_programs._saving import write_program
from psopt.errors import BudgetReachedError, InputError
from psopt.evaluation import Evaluator
from psopt.models.chat import Need, stay_here
from psopt.proposals.llm import LLMProposer
from psopt.runs import ARTIFACTS, MANIFEST, free_folder, held, recommendation_lines, spending_kept, whole_grids
from psopt.runs.planning import FLOOR_TRIALS, Sizes, path, sized
from psopt.search import SearchProblem
from psopt.search.distributed import open_storage
from psopt.search_spaces import Prompt
from psopt.tasks import FREE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.dspy_programs._compilation import Compilation
    from psopt.dspy_programs._examples import Given, ProgramData
    from psopt.dspy_programs._outcome import Outcome
    from psopt.evaluation import Split
    from psopt.runs import Run, RunDirectory
    from psopt.tasks import Sample, Task


def compile_program(student: Any, splits: Mapping[str, Sequence[Given]], compilation: Compilation) -> Compiled:
    """Search for better programs on examples of train, val and test.

    Raises PsoptError if an argument cannot be used (before any call), or the language model fails.
    """
    examples = [entry.example for entry in (*splits["train"], *splits["val"])]
    known = compilation.label_field, compilation.equivalence, told_answers(compilation)
    outcome = find_outcome(student, examples, *known, has_metric=compilation.metric is not None)
    compilation.observer.phase(_what_is_optimized(outcome, splits))
    data = program_data(student, outcome, splits, compilation)
    compilation, data = planned(student, data, compilation)
    stay_here()
    with _dspy_settings(student, compilation):
        return _search(copy_of(student), outcome, data, compilation)


def _what_is_optimized(outcome: Outcome, splits: Mapping[str, Sequence[Given]]) -> str:
    """Which step's answers count, and from which given sets the examples of train, val and test come."""
    parts = []
    for split, examples in splits.items():
        parts.append(f"{len(examples)} {split}")
        if origins := sorted({entry.place.partition("[")[0] for entry in examples if "[" in entry.place}):
            parts[-1] += f" (of the {' and '.join(origins)})"
    target = f"the answer is {outcome.field} of {outcome.step}, whose instructions are reworded"
    return f"{target}; examples: {', '.join(parts)}"


def _dspy_settings(student: Any, compilation: Compilation) -> Any:
    """DSPy's settings with the task model; raises InputError if there is no language model at all."""
    lm = compilation.task_model
    if lm is None:
        lm = dspy.settings.lm
    if lm is not None:
        return dspy.context(lm=compilation.as_asked(lm))
    if any(predictor.lm is None for _, predictor in student.named_predictors()):
        raise InputError("no language model: use dspy.configure(lm=dspy.LM(..)), or give task_model=..")
    return contextlib.nullcontext()


def _search(student: Any, outcome: Outcome, data: ProgramData, compilation: Compilation) -> Compiled:
    task, budget = data.task, compilation.models.budget
    folder = compilation.folder or free_folder(Path("runs"), type(student).__name__.lower())
    model, untold = _model(student, outcome, data, compilation, folder)
    samples: dict[Split, tuple[Sample, ...]] = {"train": task.train, "val": task.val, "test": task.test}
    wordings = model.variants.rephrasings
    evaluator = Evaluator(model, wordings, samples, budget=budget, answer_type=AnswerType.of(task))
    baseline = Prompt(wordings.search[0], task.labels, task.noun, asks=task.spec.form)
    check_other_wordings(baseline, compilation.settings)
    now: dict[str, str] = {}
    if compilation.settings.program == "python":
        facts = _facts(task, model, evaluator, compilation)
        now = identity(student, {**facts, "what can't be told": untold})
        compilation = _named(compilation, task, model)
        _tell(make_room(folder, now), compilation)
    resume = (folder / MANIFEST).exists()
    with held(folder, resume=resume) as directory, spending_kept(directory, budget):
        shares = sensitivity_by_step(model, baseline, task)
        options, observer = compilation.settings.search, compilation.observer
        sources = _proposer(model, compilation), ProgramProposals(model, shares, options.parts.examples_allowed)
        problem = SearchProblem(task, baseline, evaluator, options, observer, *sources, directory.path / ARTIFACTS)
        run = _run(directory, problem, compilation, now, resume=resume)
    _tell(model.runner.failures.line, compilation)
    _tell(_verdict(run, in_python=bool(now)), compilation)
    return Compiled(run, _write_programs(run, model), shares, model.runner.failures.by_text)


def _model(
    student: Any, outcome: Outcome, data: ProgramData, compilation: Compilation, folder: Path
) -> tuple[ProgramModel, str]:
    """The program as a model, with its instructions reworded; and the mark of a run that can't be compared, if any."""
    variants = rephrase_instructions(student, outcome.step, data.task, compilation)
    if compilation.settings.storage:
        open_storage(compilation.settings.storage)  # before the first call
    untold = _untold(student, dict(next(iter(data.examples.values())).items()), compilation)
    judged_by = "-".join([digest(student), digest(compilation.metric), *untold])
    n_steps = len(student.named_predictors())
    runner = ProgramRunner(outcome, data.examples, folder, compilation, n_steps=n_steps, judged_by=judged_by)
    assessor = compilation.models.assessor(data.task.spec)
    return ProgramModel(student, runner, variants, teacher=compilation.teacher, assessor=assessor), "".join(untold)


def _named(compilation: Compilation, task: Task, model: ProgramModel) -> Compilation:
    """The same with the names and the size that only a program in Python has, for run.json."""
    settings, n_samples = compilation.settings, max(len(task.train), len(task.val))
    data = replace(settings.data, dataset=task.name)
    return replace(compilation, settings=replace(settings, data=data, model=model.name, samples=n_samples))


def _run(
    directory: RunDirectory, problem: SearchProblem, compilation: Compilation, now: dict[str, str], *, resume: bool
) -> Run:
    """Search; in Python a limit only ends the search: the results so far are returned."""
    try:
        run = search_in(directory, problem, compilation.settings, resume=resume, force=compilation.force)
    except BudgetReachedError as error:
        if error.run is None or not now:
            raise
        _tell(python_words(str(error)), compilation)
        run = error.run
    finally:
        if now and directory.has_begun:
            directory.write_json(IDENTITY, now)
    return run


def _verdict(run: Run, *, in_python: bool) -> str:
    """The gate's verdict in a sentence; empty if there is none."""
    if not run.recommendation:
        return ""
    sentence = recommendation_lines(run.recommendation.to_dict())[0]
    return python_words(sentence) if in_python else sentence


def _tell(line: str, compilation: Compilation) -> None:
    if line:
        compilation.observer.phase(line)


def _untold(student: Any, example: Any, compilation: Compilation) -> list[str]:
    """A mark unique to this run, if answers depend on something that cannot be compared with an earlier run."""
    components = {"program": student, "metric": compilation.metric, "equivalence": compilation.equivalence}
    parts = unknown_parts(**components, teacher=compilation.teacher, example=example)
    if not parts:
        return []
    names = ", ".join(parts[:3])
    compilation.observer.phase(f"what is in {names} can't be told from outside: every run evaluates anew")
    return [uuid.uuid4().hex]


def _facts(task: Task, model: ProgramModel, evaluator: Evaluator, compilation: Compilation) -> dict[str, str]:
    """What determines a run besides the program, by name."""
    rephrasings = evaluator.rephrasings
    return {
        "the examples": task.info.sha256[:16],
        "how many of them are used": "/".join(str(len(split)) for split in (task.train, task.val, task.test)),
        "the outcome": f"{model.outcome.step}.{model.outcome.field} {task.answers}",
        "the metric": digest(compilation.metric),
        "the equivalence": digest(compilation.equivalence),
        "the teacher": digest(compilation.teacher),
        "the language model": model.identity,
        "the wordings": rephrasings.sha256[:16],
        "the seed": str(compilation.settings.seed),
    }


def _proposer(model: ProgramModel, compilation: Compilation) -> LLMProposer | None:
    """The proposer of notes and definitions; None for free text, which has no labels that they could be about."""
    if compilation.proposer is None or compilation.equivalence is not None:
        return None
    writer = compilation.models.writer(compilation.proposer)
    if compilation.metric is None:
        return LLMProposer(writer)
    return FeedbackProposer(writer, model=model)


def _write_programs(run: Run, model: ProgramModel) -> dict[str, Any]:
    """Write every program of the run to its directory, and return them by the id of their prompt."""
    programs = {}
    for candidate in kept_candidates(run):
        programs[candidate.id] = model.apply(candidate.prompt, model.variants.original)
        write_program(programs[candidate.id], run.path, candidate.id)
    return programs


Auto = Literal["light", "medium", "heavy"]
# MIPROv2 takes 670 and 1,181 calls for 100 + 100 examples of a one-step program, GEPA's light 871, bootstrapped random
# search 1,974. S needs answers under several wordings, so this is about the least that it costs.
AUTO_CALLS: dict[Auto, int] = {"light": 1_950, "medium": 4_900, "heavy": 19_500}
"""The maximum number of language model calls."""
N_TESTED = 3
"""Prompts that the gate tests: the baseline, the knee, and the shortest that is as good."""
# What DSPy's BootstrapFewShotWithRandomSearch puts into a program by default (`max_labeled_demos`).
_DEMONSTRATIONS_ALLOWED = 16
_SHARE = 0.92  # share of a limit to plan with: the actual number may be higher than expected
_LARGEST_SHARE_HELD = 0.5  # most of a limit to reserve for the final test: otherwise no calls would be left to search


def calls_expected(sizes: Sizes, n_steps: int, *, races: bool) -> dict[str, int]:
    """How many calls a compilation should make, by purpose, if every run of the program calls each step once."""
    grid = sizes.val * sizes.rephrasings
    grids: float = max(1, sizes.trials)
    if races and grids > 1:
        grids = 1 + whole_grids(sizes.trials - 1, sizes.val, sizes.rephrasings).expected
    n_runs: dict[str, float] = {}
    if n_steps > 1:
        n_runs["to find the unstable step"] = n_steps * min(MOST_TEXTS, sizes.train) * sizes.rephrasings
    # The first diagnosis, half of the further ones (the best prompt may be the same), and the one for the report.
    n_runs["to diagnose on train"] = sizes.train * sizes.rephrasings * (2 + (sizes.rounds - 1) / 2)
    n_runs["to compare on val"] = grid * grids
    n_runs["to test"] = N_TESTED * sizes.test * sizes.heldout
    return {purpose: round(n * n_steps) for purpose, n in n_runs.items()}


def sizes_within(most_calls: int, n_steps: int, available: Mapping[str, int], *, races: bool) -> Sizes:
    """Return the largest sizes that this many calls allow, or the smallest sensible ones if they allow none."""
    all_sizes = path({}, available)
    for sizes in reversed(all_sizes):
        n_calls = sum(calls_expected(sizes, n_steps, races=races).values())
        if n_calls <= _SHARE * most_calls and sizes.trials >= FLOOR_TRIALS:
            return sizes
    return all_sizes[0]


def planned(student: Any, data: ProgramData, compilation: Compilation) -> tuple[Compilation, ProgramData]:
    """Choose the sizes if calls are limited, say what is expected, and reserve calls for the final test."""
    task, search = data.task, compilation.settings.search
    parts = replace(search.parts, examples_allowed=_DEMONSTRATIONS_ALLOWED)
    settings = replace(compilation.settings, search=replace(search, parts=parts))
    n_steps = len(student.named_predictors())
    races = compilation.metric is None and compilation.equivalence is None and task.spec.kind != FREE
    available = {"train": len(task.train), "val": len(task.val), "test": len(task.test)}
    budget = compilation.models.budget
    if compilation.most_calls is not None:
        sizes = sizes_within(compilation.most_calls, n_steps, available, races=races)
        settings = sized(settings, asdict(sizes))
        drawn: dict[str, Any] = {
            split: task.subset(getattr(task, split), getattr(sizes, split), seed=settings.seed) for split in available
        }
        task = replace(task, **drawn)
    else:
        wordings = {"rephrasings": settings.rephrasings, "heldout": settings.heldout}
        sizes = Sizes(**available, **wordings, trials=search.trials, rounds=search.rounds)
    expected = calls_expected(sizes, n_steps, races=races)
    n_calls = sum(expected.values())
    parts_of_it = ", ".join(f"{n:,} {purpose}" for purpose, n in expected.items())
    compilation.observer.phase(f"about {n_calls:,} calls: {parts_of_it}")
    if budget.max_calls is not None and n_calls > budget.max_calls:
        compilation.observer.phase(f"max_calls={budget.max_calls} is below that, and ends the search before")
    # The final test also uses wordings from another source, before and after.
    n_test_runs = sizes.test * (N_TESTED * sizes.heldout + 2 * len(settings.heldout_from))
    most_held_back = int(_LARGEST_SHARE_HELD * (budget.max_calls or 0))
    budget.held_back = Need(min(n_test_runs * n_steps, most_held_back))
    return replace(compilation, settings=settings), replace(data, task=task)
