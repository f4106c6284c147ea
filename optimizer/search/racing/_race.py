"""The race of one candidate against those that may stand on the front."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.answers import ONE_LABEL
from psopt.search.racing._rules import DOMINATED, F1_BELOW, Stop
from psopt.search.racing._sample_gains import sample_gains

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray
    from psopt.answers import AnswerType
    from psopt.search.racing._rules import PairedRule
    from psopt.search.racing._schedule import Rung, Schedule

    Answers = NDArray[np.int64]

Ask = Callable[["NDArray[np.bool_]"], "Answers"]
"""From the cells that must be known to the candidate's answers, (N, Q); what is known already is not asked again."""

# Of stopped candidates one in ten is evaluated in whole all the same, to count the stops that were wrong.
_AUDITED = 10


@dataclass(frozen=True, slots=True)
class RaceResult:
    """How far a candidate came."""

    rung: Rung | None  # the last one that it was asked about; None if it did not race
    stop: Stop | None  # why it went no further; None if nobody is clearly better, or it did not race


class Race:
    """Lets candidates race on one grid.

    Parameters
    ----------
    schedule : Schedule
    truth : (N,) int
    n_classes : int
        With N/A.
    rule : PairedRule
    margin : float
        By how much F1 may be below the baseline's.
    answer_type : AnswerType
    """

    def __init__(
        self,
        schedule: Schedule,
        truth: NDArray[np.int64],
        n_classes: int,
        rule: PairedRule,
        margin: float,
        answer_type: AnswerType = ONE_LABEL,
    ) -> None:
        self.schedule = schedule
        self._truth = truth
        self._n_classes = n_classes
        self._rule = rule
        self._margin = margin
        self._answer_type = answer_type
        self._gains: dict[tuple[str, Rung], NDArray[np.float64]] = {}

    def run(self, prompt: str, ask: Ask, rivals: Mapping[str, Answers], baseline: str) -> RaceResult:
        """Ask about one rung after the other, until a rival is clearly better or survivors wait.

        Parameters
        ----------
        prompt : str
            The candidate's id.
        ask : callable
        rivals : dict of prompt id to (N, Q) int
            The answers of those that may stand on the front and the baseline's, -1 where there are none: each is
            compared with on the rungs that it is known on.
        baseline : str
            The baseline's id, among the rivals.
        """
        last = self.schedule.held_at
        for rung in self.schedule.rungs[: self.schedule.rungs.index(last)]:
            stop = self._stop(prompt, ask(self.schedule.cells(rung)), rung, rivals, baseline)
            if stop is not None:
                return RaceResult(rung, stop)
        answers = ask(self.schedule.cells(last))
        # of two wordings that is the whole grid, and nothing is left to be saved
        stop = None if last == self.schedule.whole else self._stop(prompt, answers, last, rivals, baseline)
        return RaceResult(last, stop)

    def lead(self, prompt: str, answers: Answers, rival: str, grid: Answers, rung: Rung) -> NDArray[np.float64]:
        """Return by how much a candidate is ahead of a rival on each sample of a rung: (n, k), see `sample_gains`."""
        return self._gains_of(prompt, answers, rung) - self._gains_of(rival, grid, rung)

    def is_no_better(self, differences: NDArray[np.float64]) -> bool:
        """Whether a candidate is better than a rival by next to nothing at most, of its lead."""
        return self._rule.is_no_better(differences)

    def _stop(
        self, prompt: str, answers: Answers, rung: Rung, rivals: Mapping[str, Answers], baseline: str
    ) -> Stop | None:
        cells = self.schedule.cells(rung)
        for rival, grid in rivals.items():
            if (grid[cells] < 0).any():  # a rival that has not come so far
                continue
            differences = self.lead(prompt, answers, rival, grid, rung)
            if self._rule.is_dominated(differences):
                return Stop(DOMINATED, rival, _means(differences))
            if rival == baseline and self._rule.is_below(differences, self._margin):
                return Stop(F1_BELOW, rival, _means(differences))
        return None

    def _gains_of(self, prompt: str, answers: Answers, rung: Rung) -> NDArray[np.float64]:
        key = (prompt, rung)
        if key not in self._gains:  # an answer never changes
            cells = self.schedule.cells(rung)
            self._gains[key] = sample_gains(answers, cells, self._truth, self._n_classes, self._answer_type)
        return self._gains[key]


def is_audited(prompt_id: str, seed: int) -> bool:
    """Whether a candidate is evaluated in whole although it would stop: by its id, whoever meets it and when."""
    return (int(prompt_id, 16) + seed) % _AUDITED == 0


def _means(differences: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(differences.mean(axis=0).tolist())
