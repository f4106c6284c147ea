"""Who stands where in a search: the front of whole grids, and of all that may come to stand on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search._front import Candidate, feasible_of, knee, pareto_front
from psopt.search._shorten import is_as_good, shortest
from psopt.search.racing import StoppedCandidate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.search._history import History
    from psopt.search._problem import SearchProblem
    from psopt.search.racing import CandidateRaces
    from psopt.search_spaces import Edit, Prompt

    Raced = Candidate | StoppedCandidate


class Standings:
    """Ranks the candidates of a search.

    Where nobody races all whole grids are known, and `leaders` are the front.

    Parameters
    ----------
    history : History
    problem : SearchProblem
    races : CandidateRaces
    """

    def __init__(self, history: History, problem: SearchProblem, races: CandidateRaces) -> None:
        self._history = history
        self._problem = problem
        self._races = races
        self._fitting: dict[str, bool] = {}

    @property
    def baseline(self) -> Candidate:
        """The baseline prompt, as evaluated."""
        baseline = self._problem.baseline_prompt.id
        return next(candidate for candidate in self._history.candidates if candidate.id == baseline)

    @property
    def least_f1(self) -> float:
        """The F1 on val below which a candidate is infeasible."""
        return self.baseline.val.f1 - self._problem.options.parts.margin

    @property
    def front(self) -> tuple[Candidate, ...]:
        """The Pareto front of those that may be handed back and whose whole grids are known."""
        whole = [candidate for candidate in self._history.candidates if self.fits(candidate.prompt, candidate.edits)]
        return pareto_front(whole, self.least_f1) if whole else ()

    @property
    def shortest(self) -> Candidate:
        """The one with fewest edits that is as good as the front's knee, of those that may be handed back."""
        feasible = feasible_of(self._history.candidates, self.least_f1)
        whole = [candidate for candidate in feasible if self.fits(candidate.prompt, candidate.edits)]
        return shortest(whole, knee(self.front, self.baseline), self.on_val, self._problem.options.seed)

    @property
    def standing(self) -> list[Raced]:
        """All that may come to stand on the front, by trial: those held among them."""
        held = [stopped for stopped in self._history.stopped if stopped.is_held]
        tried: list[Raced] = [*self._history.candidates, *held]
        return sorted(feasible_of(tried, self.least_f1), key=lambda prompt: prompt.trial)

    def rivals(self, prompt: Prompt, edits: Sequence[Edit]) -> list[Raced]:
        """Return those that a prompt races against: one within the limits on what is handed back against such alone.

        What is beyond the limits is often better, and then stays behind: the best within them must be known in whole.
        Nobody loses to one that answers nearly always the same, since its S and C are worth nothing.
        """
        rivals = [rival for rival in self.standing if not rival.val.is_hollow]
        if not self.fits(prompt, edits):
            return rivals
        return [rival for rival in rivals if self.fits(rival.prompt, rival.edits)]

    def fits(self, prompt: Prompt, edits: Sequence[Edit]) -> bool:
        """Whether a prompt is small enough to be handed back."""
        if prompt.id not in self._fitting:  # neither changes
            self._fitting[prompt.id] = self._problem.limits.allow(prompt, edits)
        return self._fitting[prompt.id]

    @property
    def fitting(self) -> list[Raced]:
        """All that may come to be handed back."""
        return [prompt for prompt in self.standing if self.fits(prompt.prompt, prompt.edits)]

    @property
    def leaders(self) -> tuple[Raced, ...]:
        """The Pareto front of all that may come to be handed back: of those held by estimates."""
        return pareto_front(self.fitting, self.least_f1) if self._history.candidates else ()

    @property
    def best(self) -> Raced:
        """The knee of all, of any size: the one to learn from."""
        return knee(pareto_front(self.standing, self.least_f1), self.baseline)

    def short_of(self, best: Raced, among: Sequence[Raced]) -> Raced:
        """Return the one with fewest edits that is as good as the best, as far as that is known."""
        shorter = [prompt for prompt in among if len(prompt.edits) < len(best.edits)]
        shorter.sort(key=lambda prompt: len(prompt.edits))
        return next((prompt for prompt in shorter if self.is_as_good(prompt, best)), best)

    def lead(self, candidate: Raced, rival: Raced) -> NDArray[np.float64]:
        """Return by how much a candidate is ahead of a rival, by sample, on what both were asked about: (n, 3)."""
        return self._races.lead(candidate, rival, self.baseline)

    def contenders(self) -> Iterator[StoppedCandidate]:
        """Yield those held, best first, that no other leaves without a place on the front; ties go to the shorter one.

        Their places hang on more of their grids.
        """
        fitting = self.fitting
        held = [prompt for prompt in fitting if isinstance(prompt, StoppedCandidate)]
        held.sort(key=lambda prompt: (-_sum(prompt), len(prompt.edits), prompt.trial))
        return (
            prompt
            for prompt in held
            if not any(self._beats(rival, prompt) for rival in fitting if rival.id != prompt.id)
        )

    def _beats(self, rival: Raced, prompt: StoppedCandidate) -> bool:
        if not self._races.knows_as_much(rival, prompt):
            return False
        lead = self._races.lead(prompt, rival, self.baseline)
        total = float(lead.mean(axis=0).sum())
        goes_first = total < 0 or (total == 0 and (len(rival.edits), rival.trial) < (len(prompt.edits), prompt.trial))
        return goes_first and self._races.is_no_better(lead, self.baseline)

    def is_as_good(self, prompt: Raced, best: Raced) -> bool:
        """Whether one loses little against another: no more than one standard error, as far as both are known."""
        if isinstance(prompt, Candidate) and isinstance(best, Candidate):
            return is_as_good(prompt, best, self.on_val, self._problem.options.seed)
        return self._races.loses_little(self._races.lead(prompt, best, self.baseline))

    def on_val(self, candidate: Candidate) -> Predictions:
        """Return what a candidate answered on val."""
        return self._problem.evaluator.predictions(candidate.prompt, "val")


def _sum(prompt: Raced) -> float:
    return float(prompt.val.gains.sum())
