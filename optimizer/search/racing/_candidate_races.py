"""The races of a search's candidates: against the front so far and the baseline, on val."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search.racing._race import Race, RaceResult, is_audited
from psopt.search.racing._rules import NEGLIGIBLE, RULES
from psopt.search.racing._schedule import Schedule
from psopt.search.racing._stopped_candidate import StoppedCandidate, estimated_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.evaluation import Evaluator, Predictions
    from psopt.search._front import Candidate
    from psopt.search._options import SearchOptions
    from psopt.search.racing._race import Ask
    from psopt.search_spaces import Edit, Prompt

_FEWEST_WHOLE = 3  # the baseline and two siblings: no candidate stops before there is somebody to compare it with


class CandidateRaces:
    """Lets the candidates of a search race, one after the other.

    Every decision is made on the answers to a whole rung, so that it does not matter in which order they came.

    Parameters
    ----------
    evaluator : Evaluator
    options : SearchOptions
    rule : str or None
        One of `RULES`; None where nobody races.
    """

    def __init__(self, evaluator: Evaluator, options: SearchOptions, rule: str | None) -> None:
        self._evaluator = evaluator
        self._options = options
        self._rule = rule
        self._races: dict[float, Race] = {}

    @property
    def are_run(self) -> bool:
        """Whether candidates race."""
        return self._rule is not None

    def n_without_rivals(self, n_whole: int) -> int:
        """How many more candidates are evaluated in whole before one may stop, where so many were so far."""
        return max(0, _FEWEST_WHOLE - n_whole) if self.are_run else 0

    def run(
        self,
        prompt: Prompt,
        candidates: Sequence[Candidate],
        front: Sequence[Candidate],
        baseline: Candidate,
        *,
        is_shortening: bool,
        ask: Ask | None = None,
        siblings: Mapping[str, NDArray[np.int64]] | None = None,
    ) -> RaceResult:
        """Ask about a prompt as far as it gets; nothing at all where it does not race.

        A shorter version of the best prompt is good enough where it loses no more than one standard error: it stops
        only where the bounds say that it loses in every objective.

        Parameters
        ----------
        prompt : Prompt
        candidates : sequence of Candidate
            All whose whole grids are known.
        front : sequence of Candidate
            The feasible front of them.
        baseline : Candidate
        is_shortening : bool
            Whether the prompt is tried because it is shorter.
        ask : callable, optional
            Gives the prompt's answers; by default the evaluator does.
        siblings : dict of prompt id to (N, Q) int, optional
            Answers of further rivals as far as there are any, -1 in the other cells: each is compared with on the rungs
            that it is known on.
        """
        if self._rule is None or len(candidates) < _FEWEST_WHOLE:
            return RaceResult(None, None)
        race = self._race(self._rule, baseline, 0.0 if is_shortening else NEGLIGIBLE)
        rivals = {rival.id: self._on_val(rival).array for rival in (*front, baseline)} | dict(siblings or {})
        return race.run(ask or (lambda cells: self._evaluator.answers(prompt, "val", cells)), rivals, baseline.id)

    def widened(self, cells: NDArray[np.bool_], baseline: Candidate) -> NDArray[np.bool_]:
        """Return the cells of the widest rung that asks of each sample under as many wordings as these cells do."""
        if self._rule is None:
            return cells
        schedule = self._race(self._rule, baseline, NEGLIGIBLE).schedule
        depth = int(cells.sum(axis=1).max())
        widest = max((rung for rung in schedule.rungs if rung.wordings <= depth), default=None)
        return cells if widest is None else cells | schedule.cells(widest)

    def is_audited(self, prompt: Prompt) -> bool:
        """Whether a prompt is evaluated in whole although it would stop."""
        return is_audited(prompt.id, self._options.seed)

    def stopped(
        self,
        trial: int,
        prompt: Prompt,
        edits: tuple[Edit, ...],
        order: str,
        result: RaceResult,
        candidates: Sequence[Candidate],
    ) -> StoppedCandidate:
        """Return what is known of a prompt that stopped because of one of the candidates."""
        if result.stop is None or result.rung is None:
            raise ValueError(f"prompt {prompt.id} has not stopped")
        stop = result.stop
        rival = next(candidate for candidate in candidates if candidate.id == stop.rival)
        estimates = estimated_scores(stop, rival.val, self._on_val(rival))
        return StoppedCandidate(trial, prompt, edits, result.rung, str(stop), estimates, order)

    def _race(self, rule: str, baseline: Candidate, negligible: float) -> Race:
        if negligible not in self._races:
            on_val = self._on_val(baseline)
            schedule = Schedule(on_val.truth, on_val.n_rephrasings, self._options.seed)
            margin = self._options.parts.margin
            self._races[negligible] = Race(schedule, on_val.truth, on_val.n_classes, RULES[rule](negligible), margin)
        return self._races[negligible]

    def _on_val(self, candidate: Candidate) -> Predictions:
        return self._evaluator.predictions(candidate.prompt, "val")
