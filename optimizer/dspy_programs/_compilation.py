"""The inputs of a program's compilation, and its results, also in the forms that DSPy's other optimizers have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._copying import copy_of
from psopt.dspy_programs._lm import counted_lm, is_counted
from psopt.dspy_programs._python_words import python_words
from psopt.evaluation import objective_values
from psopt.runs import MANIFEST, RunDirectory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from psopt.dspy_programs._metric import Metric
    from psopt.dspy_programs._outcome import Equivalence
    from psopt.evaluation import Scores
    from psopt.models import ModelProvider
    from psopt.runs import Run, RunSettings
    from psopt.search import Candidate, Observer
    from psopt.search_spaces import Edit
    from psopt.tasks import Task


@dataclass(frozen=True, eq=False, kw_only=True)
class Compilation:
    """The inputs of a program's compilation."""

    # As in run.json. For a program that was given in Python the data set, the model and the number of samples are
    # filled in.
    settings: RunSettings
    models: ModelProvider
    # None: the model of DSPy's settings, rules, none, rules
    task_model: Any
    rephraser: Any
    judge: Any
    proposer: Any
    uses_engine: bool  # whether even a `dspy.LM` is asked through psopt's engine; named ones always are
    n_threads: int
    observer: Observer
    # The run directory; an existing run is resumed, with `force` even one that differs
    folder: Path | None = None
    force: bool = False
    task: Task | None = None  # the source of the examples; the run takes its name, definitions and origin
    label_field: str | None = None
    metric: Metric | None = None
    equivalence: Equivalence | None = None
    teacher: Any = None
    max_errors: int = 0  # on how many texts the program or the metric may fail
    # The number of language model calls for which sizes are chosen; None if the settings have sizes
    most_calls: int | None = None

    @property
    def is_python(self) -> bool:
        """Whether the program was given in Python, not on the command line."""
        return self.settings.program == "python"

    def tell(self, line: str) -> None:
        """Show a line, if it is not empty; options in it are arguments in Python."""
        if line:
            self.observer.phase(python_words(line) if self.is_python else line)

    def as_asked(self, lm: Any) -> Any:
        """A language model in the form it is asked: through psopt's engine, or at least without DSPy's cache."""
        if isinstance(lm, str):
            return counted_lm(lm, self.models)
        if self.uses_engine and not is_counted(lm) and lm.model != "psopt/minilm":  # the embedded one needs no engine
            return counted_lm(lm, self.models)
        if getattr(lm, "cache", False):
            return lm.copy(cache=False)  # the key of DSPy's cache does not hold the server
        return lm


@dataclass(frozen=True, eq=False)
class Compiled:
    """The result of a compilation."""

    run: Run
    programs: Mapping[str, Any]  # for the baseline, the front, the shortest and the recommended prompt
    sensitivity_by_step: dict[str, float]
    failures: dict[str, str]  # the first error of each text on which the program or the metric failed

    def record_on(self, program: Any, best: Candidate, seed: int) -> None:
        """Attach the results to the returned program, which is that of the best candidate."""
        kept = kept_candidates(self.run)
        programs = [self.programs[candidate.id] for candidate in kept]
        scores = [candidate.val.f1 for candidate in kept]
        objectives = [objective_values(candidate.val) for candidate in kept]
        place = [candidate.id for candidate in kept].index(best.id)
        n_calls = RunDirectory.open(self.run.path).read_json(MANIFEST)["calls"]["made"]
        program.run = self.run
        program.failures = self.failures
        program.detailed_results = DetailedResults(
            programs, scores, objectives, place, n_calls, str(self.run.path), seed
        )
        program.trial_logs = _trial_logs(self.run)
        rows = zip(scores, objectives, programs, strict=True)
        by_score = [{"score": score, **values, "program": of_row} for score, values, of_row in rows]
        program.candidate_programs = sorted(by_score, key=lambda row: -row["score"])  # as in MIPROv2
        program.score = best.val.f1
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
    logs = {}
    for trial in run.study.trials:
        if trial.values is None:
            continue
        logs[trial.number + 1] = {
            **dict(zip(("full_eval_score", "sensitivity", "consistency"), trial.values, strict=False)),
            "edits": [name for name, value in trial.params.items() if value],
            "program_id": trial.user_attrs.get("prompt_id", ""),
        }
    return logs


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
        program = copy_of(self._program)
        program._compiled = True  # the mark that DSPy's optimizers leave
        return program
