"""From a program and examples to a front of better programs: shared by `SensitivityOptimizer` and ``--program``."""

from __future__ import annotations

import contextlib
import uuid
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt._version import __version__
from psopt.answers import AnswerType
from psopt.api import check_other_wordings, search_in
from psopt.dspy_programs._contents import contents, digest, digest_of_program
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._examples import program_data, told_answers
from psopt.dspy_programs._fingerprint import check_same_program, identity, make_room
from psopt.dspy_programs._model import ProgramModel, rephrase_instructions
from psopt.dspy_programs._outcome import find_outcome
from psopt.dspy_programs._proposals import MOST_TEXTS, ProgramProposals
from psopt.dspy_programs._runner import ProgramRunner
from psopt.dspy_programs._saving import copy_of, finished_copy, write_program
from psopt.errors import BudgetReachedError, InputError
from psopt.evaluation import Evaluator, objective_values
from psopt.models.chat import Need, stay_here
from psopt.proposals.llm import LLMProposer
from psopt.runs import MANIFEST, RunDirectory, free_folder, held, recommendation_lines, spending_kept, whole_grids
from psopt.runs.planning import FLOOR_TRIALS, Sizes, path, sized
from psopt.search import SearchProblem
from psopt.search.distributed import open_storage
from psopt.search_spaces import Prompt
from psopt.tasks import FREE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.dspy_programs._compilation import Compilation
    from psopt.dspy_programs._examples import Given
    from psopt.dspy_programs._outcome import Outcome
    from psopt.evaluation import Scores, Split
    from psopt.runs import Run, RunSettings
    from psopt.search import Candidate
    from psopt.search_spaces import Edit
    from psopt.tasks import Sample, Task


N_TESTED = 3
"""Prompts that the gate tests: the baseline, the knee, and the shortest that is as good."""
# What DSPy's BootstrapFewShotWithRandomSearch puts into a program by default (`max_labeled_demos`).
_DEMONSTRATIONS_ALLOWED = 16
_SHARE = 0.92  # share of a limit to plan with: the actual number may be higher than expected


def calls_expected(sizes: Sizes, n_steps: int, *, races: bool) -> dict[str, int]:
    """How many calls a compilation should make, by purpose, if every run of the program calls each step once."""
    grid = sizes.val * sizes.rephrasings
    grids: float = max(1, sizes.trials)
    if races and grids > 1:
        grids = 1 + whole_grids(sizes.trials - 1, sizes.val, sizes.rephrasings)
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


def planned(student: Any, task: Task, compilation: Compilation) -> tuple[Compilation, Task]:
    """Choose the sizes if calls are limited, say what is expected, and reserve calls for the final test."""
    search = compilation.settings.search
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
    compilation.tell(f"about {n_calls:,} calls: {parts_of_it}")
    if budget.max_calls is not None:
        if n_calls > budget.max_calls:
            compilation.tell(f"--max-calls {budget.max_calls} is below that, and ends the search before")
        # For the original program and a nominee, as `Reserve` does; also under the wordings of another source
        n_test_runs = 2 * sizes.test * (sizes.heldout + len(settings.heldout_from))
        n_besides_val = budget.max_calls - sizes.val * sizes.rephrasings * n_steps
        budget.held_back = Need(max(0, min(n_test_runs * n_steps, n_besides_val)))
    return replace(compilation, settings=settings), task


@dataclass(frozen=True, eq=False)
class Compiled:
    """The result of a compilation."""

    run: Run
    programs: Mapping[str, Any]  # for the baseline, the front, the shortest and the recommended prompt
    sensitivity_by_step: dict[str, float]
    failures: dict[str, str]  # the first error of each text on which the program or the metric failed

    def record_on(self, program: Any, best: Candidate, seed: int) -> None:
        """Attach the results to the returned program, which is that of the best candidate."""
        scores = [candidate.val for candidate in kept_candidates(self.run)]
        program.detailed_results = results = DetailedResults(
            candidates=list(self.programs.values()),
            val_aggregate_scores=[of.f1 for of in scores],
            val_aggregate_subscores=list(map(objective_values, scores)),
            best_idx=list(self.programs).index(best.id),
            total_metric_calls=RunDirectory.open(self.run.path).read_json(MANIFEST)["calls"]["made"],
            log_dir=str(self.run.path),
            seed=seed,
        )
        rows = zip(results.candidates, results.val_aggregate_subscores, strict=True)
        by_score = [{"score": values["f1"], **values, "program": of_row} for of_row, values in rows]
        program.candidate_programs = sorted(by_score, key=lambda row: -row["score"])  # as in MIPROv2
        program.run, program.failures, program.score = self.run, self.failures, best.val.f1
        program.trial_logs = _trial_logs(self.run)
        program.sensitivity_by_step = self.sensitivity_by_step
        program.front = program.pareto_front = tuple(
            ProgramCandidate(member.id, member.edits, member.val, member.test, self.programs[member.id])
            for member in self.run.front
        )


@dataclass(frozen=True, eq=False)
class DetailedResults:
    """The programs that were kept, in the form of GEPA's ``detailed_results``."""

    candidates: list[Any]  # the baseline, the front and the shortest program that is as good
    val_aggregate_scores: list[float]  # F1 of each on val, or the metric's mean, in [0, 1]
    # The objectives of each: ``f1``, ``sensitivity``, and ``consistency`` where it is defined
    val_aggregate_subscores: list[dict[str, float]]
    best_idx: int  # the program that was returned
    total_metric_calls: int  # number of language model calls
    log_dir: str
    seed: int

    @property
    def best_candidate(self) -> Any:
        """The program that was returned."""
        return self.candidates[self.best_idx]


def _trial_logs(run: Run) -> dict[int, dict[str, Any]]:
    """Every trial by its number, from 1, like MIPROv2's ``trial_logs``: its score, objectives and edits."""
    names = ("full_eval_score", "sensitivity", "consistency")
    return {
        trial.number + 1: {
            **dict(zip(names, trial.values, strict=False)),
            "edits": [name for name, value in trial.params.items() if value],
            "program_id": trial.user_attrs.get("prompt_id", ""),
        }
        for trial in run.study.trials
        if trial.values is not None
    }


def kept_candidates(run: Run) -> Sequence[Candidate]:
    """The baseline, the front, the shortest and the recommended one, each once."""
    return list({member.id: member for member in (run.baseline, *run.front, run.short, run.recommended)}.values())


@dataclass(frozen=True, eq=False)
class ProgramCandidate:
    """A program that was evaluated.

    Attributes
    ----------
    id : str
        The id of its prompt, as in the run directory.
    edits : tuple of Edit
        The edits added to the given program.
    val : Scores
        On val under the search rephrasings.
    test : Scores or None
        On test under held-out rephrasings, if it was scored there.
    """

    id: str
    edits: tuple[Edit, ...]
    val: Scores
    test: Scores | None
    _program: Any

    @property
    def program(self) -> Any:
        """A copy of the program, ready for use."""
        return finished_copy(self._program)


def compile_program(student: Any, splits: Mapping[str, Sequence[Given]], compilation: Compilation) -> Compiled:
    """Search for better programs on examples of train, val and test; arguments are checked before any call."""
    examples = [entry.example for entry in (*splits["train"], *splits["val"])]
    outcome = find_outcome(
        student,
        examples,
        compilation.label_field,
        compilation.equivalence,
        told_answers(compilation),
        has_metric=compilation.metric is not None,
    )
    compilation.tell(_what_is_optimized(outcome, splits))
    task, examples_by_text = program_data(student, outcome, splits, compilation)
    compilation, task = planned(student, task, compilation)
    stay_here()
    with _dspy_settings(student, compilation):
        return _search(student, outcome, task, examples_by_text, compilation)


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
    lm = dspy.settings.lm if compilation.task_model is None else compilation.task_model
    if lm is not None:
        return dspy.context(lm=compilation.as_asked(lm))
    if any(predictor.lm is None for _, predictor in student.named_predictors()):
        raise InputError("no language model: use dspy.configure(lm=dspy.LM(..)), or give task_model=..")
    return contextlib.nullcontext()


def _search(
    student: Any, outcome: Outcome, task: Task, examples: Mapping[str, Any], compilation: Compilation
) -> Compiled:
    budget = compilation.models.budget
    folder = compilation.folder or free_folder(Path("runs"), type(student).__name__.lower())
    program = copy_of(student)  # before the first call
    variants = rephrase_instructions(student, outcome.step, task, compilation)
    if compilation.settings.storage:
        open_storage(compilation.settings.storage)  # likewise
    untold = _untold(student, dict(next(iter(examples.values())).items()), compilation)
    judged_by = "-".join(filter(None, (digest_of_program(student), digest(compilation.metric), untold)))
    runner = ProgramRunner(outcome, examples, folder, compilation, student=student, judged_by=judged_by)
    assessor = compilation.models.assessor(task.spec)
    model = ProgramModel(program, runner, variants, teacher=compilation.teacher, assessor=assessor)
    samples: dict[Split, tuple[Sample, ...]] = {"train": task.train, "val": task.val, "test": task.test}
    wordings = model.variants.rephrasings
    answers = replace(AnswerType.of(task), has_metric=compilation.metric is not None)
    evaluator = Evaluator(model, wordings, samples, budget=budget, answer_type=answers)
    baseline = Prompt(wordings.search[0], task.labels, task.noun, asks=task.spec.form)
    check_other_wordings(baseline, compilation.settings)
    now = identity(student, _facts(task, model, compilation, untold))
    if compilation.is_python:
        compilation = replace(compilation, settings=_named(compilation.settings, task, model))
        compilation.tell(make_room(folder, now))
    elif not compilation.force:
        check_same_program(folder, now)
    resume = (folder / MANIFEST).exists()
    with held(folder, resume=resume) as directory, spending_kept(directory, budget):
        _check_limit(evaluator, model, baseline)
        options, observer = compilation.settings.search, compilation.observer
        proposer = _proposer(model, compilation)
        proposals = ProgramProposals(model, baseline, task, options.parts.examples_allowed)
        problem = SearchProblem(task, baseline, evaluator, options, observer, proposer, proposals)
        run = _run(directory, problem, compilation, now, resume=resume)
        shares: dict[str, float] = {}
        with contextlib.suppress(BudgetReachedError):  # where a limit has ended the search before its first edits
            shares = proposals.shares
    compilation.tell(model.runner.failures.line)
    if run.recommendation:
        compilation.tell(recommendation_lines(run.recommendation.to_dict(), answers.quality_name)[0])
    programs = {}
    for candidate in kept_candidates(run):
        programs[candidate.id] = model.apply(candidate.prompt, model.variants.original)
        write_program(programs[candidate.id], run.path, candidate.id)
    return Compiled(run, programs, shares, model.runner.failures.by_text)


def _check_limit(evaluator: Evaluator, model: ProgramModel, baseline: Prompt) -> None:
    """Raise InputError for a limit on calls that does not pay the original program on val and test."""
    most = evaluator.budget.max_calls
    if most is None:
        return
    splits: tuple[Split, ...] = ("val", "test")
    left = [model.calls_left(evaluator.rephrased(baseline, split), evaluator.texts(split)) for split in splits]
    least = evaluator.budget.spent.calls + sum(left)
    if any(left) and least > most:
        raise InputError(
            f"--max-calls {most} can't pay the original program on val and the final test: "
            f"at least {least}, if every run calls each step once"
        )


def _named(settings: RunSettings, task: Task, model: ProgramModel) -> RunSettings:
    """The settings of a program in Python with its names and its size, for run.json."""
    data, n_samples = replace(settings.data, dataset=task.name), max(len(task.train), len(task.val))
    return replace(settings, data=data, model=model.name, samples=n_samples)


def _run(
    directory: RunDirectory, problem: SearchProblem, compilation: Compilation, now: dict[str, str], *, resume: bool
) -> Run:
    """Search; in Python a limit only ends the search: the results so far are returned."""
    try:
        return search_in(directory, problem, compilation.settings, program=now, resume=resume, force=compilation.force)
    except BudgetReachedError as error:
        if error.run is None or not compilation.is_python:
            raise
        compilation.tell(str(error))
        so_far: Run = error.run
        return so_far


def _untold(student: Any, example: Any, compilation: Compilation) -> str:
    """A mark unique to this run, if answers depend on something that cannot be compared with an earlier run."""
    components = {"program": student, "example": example}
    components |= {name: getattr(compilation, name) for name in ("metric", "equivalence", "teacher")}
    parts = [part for name, value in components.items() for part in contents(value, name)[1]]
    if not parts:
        return ""
    compilation.tell(f"what is in {', '.join(parts[:3])} can't be told from outside: every run evaluates anew")
    return uuid.uuid4().hex


def _facts(task: Task, model: ProgramModel, compilation: Compilation, untold: str) -> dict[str, str]:
    """What determines a run besides the program, by name; on the command line `RunRecorder` compares the rest."""
    outcome = {"the outcome": f"{model.outcome.step}.{model.outcome.field} {task.answers}"}
    if not compilation.is_python:
        return outcome
    return {
        **outcome,
        "psopt's version": __version__,
        "the examples": task.info.sha256[:16],
        "how many of them are used": "/".join(str(len(split)) for split in (task.train, task.val, task.test)),
        "the metric": digest(compilation.metric),
        "the equivalence": digest(compilation.equivalence),
        "the teacher": digest(compilation.teacher),
        "the language model": model.identity,
        "the wordings": model.variants.rephrasings.sha256[:16],
        "the seed": str(compilation.settings.seed),
        "what can't be told": untold,
    }


def _proposer(model: ProgramModel, compilation: Compilation) -> LLMProposer | None:
    """The proposer of notes and definitions; None for free text, which has no labels that they could be about."""
    if compilation.proposer is None or compilation.equivalence is not None:
        return None
    remarks = None if compilation.metric is None else model.remarks
    return LLMProposer(compilation.models.writer(compilation.proposer), remarks)
