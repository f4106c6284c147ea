"""The race of one candidate against those whose whole grids are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.search.racing._rules import DOMINATED, F1_BELOW, Stop
from psopt.search.racing._sample_gains import sample_gains

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray
    from psopt.search.racing._rules import Rule
    from psopt.search.racing._schedule import Rung, Schedule

    Answers = NDArray[np.int64]

Ask = Callable[["NDArray[np.bool_]"], "Answers"]
"""From the cells that must be known to the candidate's answers, (N, Q); what is known already is not asked again."""

# Of stopped candidates one in ten is evaluated in whole all the same, to count the stops that were wrong.
_AUDITED = 10


@dataclass(frozen=True, slots=True)
class RaceResult:
    """How far a candidate came.

    Attributes
    ----------
    rung : Rung or None
        The last one that it was asked about; None if it did not race.
    stop : Stop or None
        Why it went no further; None if its whole grid is known, or to be asked.
    """

    rung: Rung | None
    stop: Stop | None


class Race:
    """Lets candidates race on one grid.

    Parameters
    ----------
    schedule : Schedule
    truth : (N,) int
    n_classes : int
        With N/A.
    rule : Rule
    margin : float
        By how much F1 may be below the baseline's.
    """

    def __init__(self, schedule: Schedule, truth: NDArray[np.int64], n_classes: int, rule: Rule, margin: float) -> None:
        self.schedule = schedule
        self._truth = truth
        self._n_classes = n_classes
        self._rule = rule
        self._margin = margin
        self._gains: dict[tuple[str, Rung], NDArray[np.float64]] = {}

    def run(self, ask: Ask, rivals: Mapping[str, Answers], baseline: str) -> RaceResult:
        """Ask about one rung after the other, until the grid is whole or a rival is clearly better.

        Parameters
        ----------
        ask : callable
        rivals : dict of prompt id to (N, Q) int
            The whole grids of the front so far and of the baseline; -1 where one is not known.
        baseline : str
            The baseline's id, among the rivals.
        """
        *partial, whole = self.schedule.rungs
        for rung in partial:
            answers = ask(self.schedule.cells(rung))
            stop = self._stop(answers, rung, rivals, baseline)
            if stop is not None:
                return RaceResult(rung, stop)
        ask(self.schedule.cells(whole))
        return RaceResult(whole, None)

    def _stop(self, answers: Answers, rung: Rung, rivals: Mapping[str, Answers], baseline: str) -> Stop | None:
        cells = self.schedule.cells(rung)
        own = sample_gains(answers, cells, self._truth, self._n_classes)
        for rival, grid in rivals.items():
            if (grid[cells] < 0).any():  # a sibling that has not come so far
                continue
            differences = own - self._rival_gains(rival, grid, rung)
            if self._rule.is_dominated(differences):
                return Stop(DOMINATED, rival, _means(differences))
            if rival == baseline and self._rule.is_below(differences, self._margin):
                return Stop(F1_BELOW, rival, _means(differences))
        return None

    def _rival_gains(self, rival: str, grid: Answers, rung: Rung) -> NDArray[np.float64]:
        key = (rival, rung)
        if key not in self._gains:
            self._gains[key] = sample_gains(grid, self.schedule.cells(rung), self._truth, self._n_classes)
        return self._gains[key]


def is_audited(prompt_id: str, seed: int) -> bool:
    """Whether a candidate is evaluated in whole although it would stop: by its id, whoever meets it and when."""
    return (int(prompt_id, 16) + seed) % _AUDITED == 0


def _means(differences: NDArray[np.float64]) -> tuple[float, float, float]:
    f1, steadiness, consistency = differences.mean(axis=0)
    return float(f1), float(steadiness), float(consistency)
