"""What is known of a search now: who stands where, what may be handed back, how far it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search._front import Candidate, feasible_of, knee, pareto_front
from psopt.search._shorten import is_as_good, shortest
from psopt.search.racing import StoppedCandidate, is_no_better, standard_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import Predictions
    from psopt.search._front import R, Tried
    from psopt.search._history import History
    from psopt.search._problem import SearchProblem
    from psopt.search.racing import CandidateRaces
    from psopt.search_spaces import Edit, Prompt


class SearchState:
    """Computed from the history of a search, whenever it is asked; nothing is changed by it.

    Where nobody races all whole grids are known, and `leaders` are the front.
    """

    def __init__(self, problem: SearchProblem, history: History, races: CandidateRaces) -> None:
        self.problem = problem
        self.history = history
        self.races = races  # compares those of which a part of the grid is known
        self._fitting: dict[str, bool] = {}

    @property
    def pool(self) -> list[Edit]:
        """Every edit proposed so far."""
        return self.history.pool

    @property
    def n_done(self) -> int:
        """How many candidates were evaluated, those that stopped among them."""
        return len(self.history.evaluated)

    @property
    def is_shortening(self) -> bool:
        """Whether the last trials have begun, which try shorter versions of the best prompt."""
        return self.n_done >= self.problem.options.trials - self.problem.options.shortening

    @property
    def baseline(self) -> Candidate:
        """The baseline prompt, as evaluated."""
        baseline = self.problem.baseline_prompt.id
        return next(candidate for candidate in self.history.candidates if candidate.id == baseline)

    @property
    def least_f1(self) -> float:
        """The F1 on val below which a candidate is infeasible."""
        return self.baseline.val.f1 - self.problem.options.parts.margin

    def fits(self, prompt: Prompt, edits: Sequence[Edit]) -> bool:
        """Whether a prompt is small enough to be handed back."""
        if prompt.id not in self._fitting:  # neither changes
            self._fitting[prompt.id] = self.problem.limits.allow(prompt, edits)
        return self._fitting[prompt.id]

    @property
    def front(self) -> tuple[Candidate, ...]:
        """The Pareto front of those that may be handed back and whose whole grids are known."""
        return pareto_front(self._within(self.history.candidates), self.least_f1)

    @property
    def shortest(self) -> Candidate:
        """The one with fewest edits that is as good as the front's knee, of those that may be handed back."""
        whole = self._within(feasible_of(self.history.candidates, self.least_f1))
        return shortest(whole, knee(self.front, self.baseline), self.is_as_good)

    @property
    def standing(self) -> list[Tried]:
        """All feasible ones that may come to have a whole grid, by trial: those held among them."""
        held = [stopped for stopped in self.history.stopped if stopped.is_held]
        tried: list[Tried] = [*self.history.candidates, *held]
        return sorted(feasible_of(tried, self.least_f1), key=lambda prompt: prompt.trial)

    @property
    def fitting(self) -> list[Tried]:
        """All that may come to be handed back."""
        return self._within(self.standing)

    @property
    def leaders(self) -> tuple[Tried, ...]:
        """The Pareto front of all that may come to be handed back: of those held by estimates."""
        return pareto_front(self.fitting, self.least_f1) if self.history.candidates else ()

    @property
    def best(self) -> Tried:
        """The knee of all, of any size: the one to learn from."""
        return knee(pareto_front(self.standing, self.least_f1), self.baseline)

    def rivals(self, prompt: Prompt, edits: Sequence[Edit]) -> list[Tried]:
        """Return those that a prompt races against: one that is small enough against such alone.

        What is larger is often better, and then stays behind: the best that may be handed back must be known in whole.
        Nobody loses to one that answers nearly always the same, since its S and C are worth nothing.
        """
        rivals = [rival for rival in self.standing if not rival.val.is_hollow]
        return self._within(rivals) if self.fits(prompt, edits) else rivals

    def _within(self, prompts: Sequence[R]) -> list[R]:
        return [prompt for prompt in prompts if self.fits(prompt.prompt, prompt.edits)]

    def waiting(self) -> StoppedCandidate | None:
        """Return whose whole grid is to be known before the search can end; None where there is nobody left.

        Of those held the best that no other leaves without a place on the front (ties go to the shorter one), for its
        place hangs on more of its grid; then the short one.
        """
        fitting = self.fitting
        held = [prompt for prompt in fitting if isinstance(prompt, StoppedCandidate)]
        held.sort(key=lambda prompt: (-float(prompt.val.gains.sum()), len(prompt.edits), prompt.trial))
        for prompt in held:
            if not any(self._beats(rival, prompt) for rival in fitting if rival.id != prompt.id):
                return prompt
        short = shortest(fitting, knee(self.leaders, self.baseline), self.is_as_good)
        return short if isinstance(short, StoppedCandidate) else None

    def _beats(self, rival: Tried, prompt: StoppedCandidate) -> bool:
        if not self.races.knows_as_much(rival, prompt):
            return False
        lead = self.races.lead(prompt, rival)
        total = float(lead.mean(axis=0).sum())
        goes_first = total < 0 or (total == 0 and (len(rival.edits), rival.trial) < (len(prompt.edits), prompt.trial))
        return goes_first and is_no_better(lead)

    def is_as_good(self, prompt: Tried, best: Tried) -> bool:
        """Whether one loses little against another: no more than one standard error, as far as both are known."""
        if isinstance(prompt, Candidate) and isinstance(best, Candidate):
            return is_as_good(prompt, best, self.on_val)
        lead = self.races.lead(prompt, best)
        return bool((lead.mean(axis=0) >= -standard_error(lead)).all())

    def on_val(self, candidate: Candidate) -> Predictions:
        """Return what a candidate answered on val."""
        return self.problem.evaluator.predictions(candidate.prompt, "val")
