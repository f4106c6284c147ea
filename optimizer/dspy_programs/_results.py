"""The results of a compilation, in the forms that users of DSPy's other optimizers expect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._copying import copy_of
from psopt.evaluation import objective_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.dspy_programs._compilation import Compiled
    from psopt.evaluation import Scores
    from psopt.runs import Run
    from psopt.search import Candidate
    from psopt.search_spaces import Edit


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


def detailed_results(compiled: Compiled, chosen: str, n_calls: int, seed: int) -> DetailedResults:
    """Return the results; `chosen` is the id of the returned program."""
    candidates = kept_candidates(compiled.run)
    return DetailedResults(
        [compiled.programs[candidate.id] for candidate in candidates],
        [candidate.val.f1 for candidate in candidates],
        [objective_values(candidate.val) for candidate in candidates],
        [candidate.id for candidate in candidates].index(chosen),
        n_calls,
        str(compiled.run.path),
        seed,
    )


def trial_logs(compiled: Compiled) -> dict[int, dict[str, Any]]:
    """Every trial by its number, from 1, like MIPROv2's ``trial_logs``: its score, objectives and edits."""
    logs = {}
    for trial in compiled.run.study.trials:
        if trial.values is None:
            continue
        f1, sensitivity, *others = trial.values
        logs[trial.number + 1] = {
            "full_eval_score": f1,
            "sensitivity": sensitivity,
            **({"consistency": others[0]} if others else {}),
            "edits": [name for name, value in trial.params.items() if value],
            "program_id": trial.user_attrs.get("prompt_id", ""),
        }
    return logs


def candidate_programs(compiled: Compiled) -> list[dict[str, Any]]:
    """The kept programs from the best to the worst score, as in MIPROv2 and bootstrapped random search."""
    candidates = sorted(kept_candidates(compiled.run), key=lambda candidate: -candidate.val.f1)
    return [
        {"score": candidate.val.f1, **objective_values(candidate.val), "program": compiled.programs[candidate.id]}
        for candidate in candidates
    ]


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
