"""A search moves on when its last candidates could not have moved the front by more than noise.

First to the next round, whose new edits may move it; after the last round to the shorter prompts, with which it ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.search._front import Candidate, pareto_front
from psopt.search._options import n_shortening
from psopt.search.distributed._study_keys import FURTHER_TRIALS, TOTAL
from psopt.search.racing import sample_gains

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.search._problem import SearchProblem
    from psopt.search.distributed import StoredStudy
    from psopt.search.racing import StoppedCandidate

    Tried = Candidate | StoppedCandidate
    Lead = Callable[[Tried, Tried], NDArray[np.float64]]

# Did one candidate in three still move the front, eight in a row without would come in 4 % of the cases. Five of them
# may be a round's obvious candidates.
_FEWEST = 8
_SHARE = 5  # longer searches wait for longer: a fifth of the trials, as many as try shorter prompts
# Standard errors: one-sided bounds of 90 %, as in races. What is taken for a move only prolongs the search.
_CLEARLY = 1.28


class Convergence:
    """Where a search for better prompts ends and that for shorter ones begins, and after how many trials all of it.

    What was decided stands in the study, so that workers and whoever resumes it keep to it. A larger total of trials
    begins to count anew.

    Parameters
    ----------
    study : StoredStudy
    problem : SearchProblem
    is_active : bool
        Whether a search may end before its total of trials; an attribute too, which experiments switch off.
    """

    def __init__(self, study: StoredStudy, problem: SearchProblem, *, is_active: bool) -> None:
        self._study = study
        self._problem = problem
        self.is_active = is_active
        self._gains: dict[str, NDArray[np.float64]] = {}

    @property
    def window(self) -> int:
        """How many candidates in a row must have left the front where it was."""
        return max(_FEWEST, self._problem.options.trials // _SHARE)

    @property
    def total(self) -> int:
        """After how many trials all ends."""
        return self._ends()[0]

    @property
    def begins_shortening(self) -> int:
        """After how many trials shorter versions of the best prompt are tried."""
        total, most = self._ends()
        return total - n_shortening(most)

    @property
    def is_early(self) -> bool:
        """Whether all ends before the total that was asked for, and what its limits pay for beyond that."""
        total, most = self._ends()
        return total < most

    def begin(self) -> None:
        """Write down the total that is asked for: what comes after it, in a search that is resumed, counts anew."""
        trials = self._problem.options.trials
        if self.is_active and trials not in self._totals():
            self._study.set_user_attr(f"{TOTAL}:{trials}", trials)

    def is_reached(
        self, evaluated: Sequence[Candidate | StoppedCandidate], least_f1: float, lead: Lead | None = None
    ) -> bool:
        """Whether the last candidates could not have moved the front by more than noise.

        Parameters
        ----------
        evaluated : sequence of Candidate or StoppedCandidate
            Those that stopped don't move it; those that are held may.
        least_f1 : float
            Below it a candidate is infeasible.
        lead : callable, optional
            Compares two of them by sample, on what both were asked about; needed where some are held.
        """
        lead = lead or self._whole_lead
        by_trial = sorted(evaluated, key=lambda candidate: candidate.trial)
        last = by_trial[max(self._first, len(by_trial) - self.window) :]
        if not self.is_active or len(last) < self.window:
            return False
        front = pareto_front([candidate for candidate in by_trial[: -len(last)] if _may_stand(candidate)], least_f1)
        new = [candidate for candidate in last if _may_stand(candidate) and candidate.val.f1 >= least_f1]
        return not any(_moves(candidate, front, lead) for candidate in new)

    def end_search(self, n_done: int) -> None:
        """Write down that all ends when, after so many trials, shorter versions have been tried."""
        _, most = self._ends()
        total = min(most, n_done + n_shortening(most))
        self._study.set_user_attr(f"{TOTAL}:{self._problem.options.trials}", total)

    def go_on_for(self, n_trials: int) -> None:
        """Write down that all ends so many trials later."""
        trials = self._problem.options.trials
        most = self._ends()[1] + n_trials
        self._study.set_user_attr(f"{FURTHER_TRIALS}:{trials}", most - trials)
        self._study.set_user_attr(f"{TOTAL}:{trials}", most)

    def _ends(self) -> tuple[int, int]:
        """After how many trials all ends, and after how many it would without an early end: the storage asked once."""
        trials = self._problem.options.trials
        if not self.is_active:
            return trials, trials
        attributes = self._study.user_attrs
        most = trials + int(attributes.get(f"{FURTHER_TRIALS}:{trials}", 0))
        return int(attributes.get(f"{TOTAL}:{trials}", most)), most

    @property
    def _first(self) -> int:
        """How many trials come before those that count: the baseline's, and those of smaller totals."""
        trials = self._problem.options.trials
        return max([1, *(total for asked, total in self._totals().items() if asked < trials)])

    def _totals(self) -> dict[int, int]:
        """After how many trials all ends, by the total that was asked for."""
        if not self.is_active:
            return {}
        attributes = self._study.user_attrs.items()
        totals = {key.removeprefix(f"{TOTAL}:"): total for key, total in attributes if key.startswith(f"{TOTAL}:")}
        return {int(asked): int(total) for asked, total in totals.items()}

    def _whole_lead(self, candidate: Tried, rival: Tried) -> NDArray[np.float64]:
        return self._gains_of(candidate) - self._gains_of(rival)

    def _gains_of(self, candidate: Tried) -> NDArray[np.float64]:
        if candidate.id not in self._gains:
            self._gains[candidate.id] = _whole_gains(self._problem.evaluator.predictions(candidate.prompt, "val"))
        return self._gains[candidate.id]


def _whole_gains(on_val: Predictions) -> NDArray[np.float64]:
    cells = np.ones(on_val.array.shape, dtype=np.bool_)
    return sample_gains(on_val.array, cells, on_val.truth, on_val.n_classes, on_val.answers)


def _may_stand(candidate: Tried) -> bool:
    return isinstance(candidate, Candidate) or candidate.is_held


def _moves(candidate: Tried, front: Sequence[Tried], lead: Lead) -> bool:
    """Whether a candidate is clearly better than each prompt of a front in some objective."""
    return all(_is_clearly_better(lead(candidate, member)) for member in front)


def _is_clearly_better(differences: NDArray[np.float64]) -> bool:
    error = differences.std(axis=0, ddof=1) / np.sqrt(len(differences))
    return bool((differences.mean(axis=0) > _CLEARLY * error).any())
