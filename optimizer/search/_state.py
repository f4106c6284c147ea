"""What a study stores of a search, from which all that is known can be read back, and what follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from optuna.trial import TrialState
from psopt.evaluation import score
from psopt.search._front import Candidate, feasible_of, knee, pareto_front
from psopt.search._shorten import is_as_good, shortest
from psopt.search.distributed._stored_study import AUDIT, RACED, read_answers, read_rounds
from psopt.search.racing._candidate_races import StoppedCandidate
from psopt.search.racing._race import Rung, is_no_better, standard_error
from psopt.search_spaces import apply_edits, chosen_edits, with_titles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from optuna.trial import FrozenTrial
    from psopt.evaluation import Scores
    from psopt.search._front import R, Tried
    from psopt.search._problem import SearchProblem
    from psopt.search.distributed import StoredStudy
    from psopt.search.racing._candidate_races import CandidateRaces
    from psopt.search_spaces import Edit, Prompt


class History:
    """The candidates evaluated and the edits proposed so far, by any worker."""

    def __init__(self, study: StoredStudy, problem: SearchProblem, races: CandidateRaces) -> None:
        self._whole: list[Candidate] = []  # every prompt evaluated completely: the baseline first, then by trial
        self.stopped: list[StoppedCandidate] = []  # those that stopped in their races or are held there, by trial
        self.rounds: list[list[Edit]] = []  # the new edits of each
        self.pool: list[Edit] = list(problem.first_edits)  # then the edits of all rounds
        self._study = study
        self._problem = problem
        self._stored_edits: dict[str, str] = {}
        self._races = races

    @property
    def candidates(self) -> list[Candidate]:
        """Every prompt evaluated completely; none before the baseline, with which all are compared: it comes first."""
        return [] if not self._whole or self._whole[0].edits else self._whole

    @property
    def evaluated(self) -> list[Tried]:
        """All candidates evaluated, completely or as far as their races went."""
        return [*self._whole, *self.stopped]

    @property
    def has_queued(self) -> bool:
        return bool(self._study.trials_in(TrialState.WAITING))

    def refresh(self) -> list[Tried]:
        """Read what is new in the study; return the new candidates."""
        numbers = {candidate.trial for candidate in self.evaluated}
        trials = [trial for trial in self._study.trials_in(TrialState.COMPLETE) if trial.number not in numbers]
        self.refresh_pool()  # after the trials, so that no trial has an edit that is not in the pool
        new = []
        for trial in trials:
            new.append(self._candidate_of(trial))
            self.add_candidate(new[-1])  # at once: later ones are compared with the baseline
        return new

    def refresh_pool(self) -> None:
        """Read the edits that were proposed."""
        stored = self._study.stored_edits()
        if stored == self._stored_edits:  # checked at every trial, though edits come only once per round
            return
        self.rounds = read_rounds(stored)
        self.pool = [*self._problem.first_edits, *(edit for edits in self.rounds for edit in edits)]
        self._stored_edits = stored

    def add_candidate(self, candidate: Tried) -> None:
        """Take into account what this process has evaluated, without reading it back."""
        if isinstance(candidate, StoppedCandidate):
            self.stopped = sorted([*self.stopped, candidate], key=lambda stopped: stopped.trial)
        elif isinstance(candidate, Candidate):
            self._whole = sorted([*self._whole, candidate], key=lambda whole: (bool(whole.edits), whole.trial))

    def ask_further(self, candidate: StoppedCandidate, *, wholly: bool = False) -> None:
        """Ask about a held candidate's next rung, or about all of its grid, and store the answers."""
        candidate = self._races.further(candidate, wholly=wholly)
        evaluator = self._problem.evaluator
        self._study.write_further(candidate.id, evaluator.partial_answers(candidate.prompt, "val"))
        self.stopped = [stopped for stopped in self.stopped if stopped.id != candidate.id]
        self.add_candidate(self._known(candidate))

    def add_edits(self, edits: Iterable[Edit], worker: str) -> None:
        """Store another round of edits, with titles that no edit so far has."""
        self._study.write_edits(len(self.rounds), with_titles(edits, self.pool), worker)
        self.refresh_pool()

    def prompt_of(self, edits: Iterable[Edit], order: str) -> Prompt:
        """Return the prompt that a trial with these edits will build, in the pool's order."""
        place = {edit: index for index, edit in enumerate(self.pool)}
        in_order = sorted(edits, key=lambda edit: place.get(edit, len(place)))
        return apply_edits(self._problem.baseline_prompt, in_order, order)

    def find(self, prompt_id: str) -> Tried | None:
        """Return the candidate with this prompt, if it was evaluated."""
        return next((candidate for candidate in self.evaluated if candidate.id == prompt_id), None)

    def _candidate_of(self, trial: FrozenTrial) -> Tried:
        edits, order = chosen_edits(trial.params, self.pool)
        prompt = apply_edits(self._problem.baseline_prompt, edits, order)
        outdated = self._study.is_outdated(trial.number)
        if not outdated:
            for of_model, answers in zip(self._problem.evaluator.each, read_answers(trial), strict=False):
                of_model.remember(prompt, "val", *answers)
        if RACED in trial.user_attrs:
            stopped = StoppedCandidate.read(trial, prompt, edits, order)
            if outdated:  # it counts, and is on no front
                return replace(stopped, reason="raced before what was asked about changed")
            return self._promoted(replace(stopped, val=self._races.marked(stopped.val, prompt)))
        audit = trial.user_attrs.get(AUDIT, "")
        return Candidate(trial.number, prompt, edits, self._on_val(prompt), order=order, audit=audit)

    def _promoted(self, stopped: StoppedCandidate) -> Tried:
        """Add the answers that a candidate got after its trial was finished."""
        further = self._study.read_further(stopped.id)
        if further is None:
            return stopped
        evaluator = self._problem.evaluator
        evaluator.remember(stopped.prompt, "val", *further)
        answered = evaluator.partial_answers(stopped.prompt, "val").is_answered
        rung = Rung(int(answered.any(axis=1).sum()), int(answered.sum(axis=1).max()))
        return self._known(replace(stopped, rung=rung))

    def _known(self, stopped: StoppedCandidate) -> Tried:
        """A candidate that was asked further: with its scores if its whole grid is known, otherwise with estimates."""
        if not self._problem.evaluator.knows(stopped.id, "val"):
            return replace(stopped, val=self._races.estimates(stopped.prompt, stopped.rung))
        scores = self._on_val(stopped.prompt)
        return Candidate(stopped.trial, stopped.prompt, stopped.edits, scores, order=stopped.order, audit=stopped.audit)

    def _on_val(self, prompt: Prompt) -> Scores:
        return score(self._problem.evaluator.predictions(prompt, "val"))


class SearchState:
    """What follows from the history of a search, computed on demand; without races, `leaders` are the front."""

    def __init__(self, problem: SearchProblem, history: History, races: CandidateRaces) -> None:
        self.problem = problem
        self.history = history
        self.races = races  # compares candidates whose grids are partly known
        self._fitting: dict[str, bool] = {}

    @property
    def pool(self) -> list[Edit]:
        return self.history.pool

    @property
    def n_done(self) -> int:
        """How many candidates were evaluated, including those that stopped."""
        return len(self.history.evaluated)

    @property
    def is_shortening(self) -> bool:
        """Whether the last trials have begun, which try shorter versions of the best prompt."""
        return self.n_done >= self.problem.options.trials - self.problem.options.shortening

    @property
    def baseline(self) -> Candidate:
        return self.history.candidates[0]

    @property
    def least_f1(self) -> float:
        """The F1 on val below which a candidate is infeasible."""
        return self.baseline.val.f1 - self.problem.options.parts.margin

    def fits(self, prompt: Prompt, edits: Sequence[Edit]) -> bool:
        """Whether a prompt is small enough to be recommended."""
        if prompt.id not in self._fitting:  # neither prompts nor limits change
            self._fitting[prompt.id] = self.problem.limits.allow(prompt, edits)
        return self._fitting[prompt.id]

    @property
    def front(self) -> tuple[Candidate, ...]:
        """The Pareto front of the candidates that may be recommended and whose whole grids are known."""
        return pareto_front(self._within(self.history.candidates), self.least_f1)

    @property
    def shortest(self) -> Candidate:
        """The candidate with the fewest edits that is as good as the front's knee, of those that may be recommended."""
        whole = self._within(feasible_of(self.history.candidates, self.least_f1))
        return shortest(whole, knee(self.front, self.baseline), self.is_as_good)

    @property
    def standing(self) -> list[Tried]:
        """All feasible candidates that have a whole grid or may still get one, by trial: including those held."""
        held = [stopped for stopped in self.history.stopped if stopped.is_held]
        tried: list[Tried] = [*self.history.candidates, *held]
        return sorted(feasible_of(tried, self.least_f1), key=lambda prompt: prompt.trial)

    @property
    def fitting(self) -> list[Tried]:
        """All that may still be recommended."""
        return self._within(self.standing)

    @property
    def leaders(self) -> tuple[Tried, ...]:
        """The Pareto front of all that may still be recommended: held ones count by their estimates."""
        if not self.history.candidates:
            return ()
        return pareto_front(self.fitting, self.least_f1)

    @property
    def best(self) -> Tried:
        """The knee of all candidates, of any size: the one to learn from."""
        return knee(pareto_front(self.standing, self.least_f1), self.baseline)

    def rivals(self, prompt: Prompt, edits: Sequence[Edit]) -> list[Tried]:
        """Return those that a prompt races against: a prompt that is small enough races only against such prompts.

        Larger ones are often better, but can't be recommended, so the best one that can be must be known completely. No
        prompt loses to one that gives nearly always the same answer, since its S and C mean nothing.
        """
        opponents = self.fitting if self.fits(prompt, edits) else self.standing
        return [rival for rival in opponents if not rival.val.is_hollow]

    def _within(self, prompts: Sequence[R]) -> list[R]:
        return [prompt for prompt in prompts if self.fits(prompt.prompt, prompt.edits)]

    def waiting(self) -> StoppedCandidate | None:
        """Return the next candidate whose grid must be completed before the search can end; None if none is left.

        First come held candidates that no other one keeps off the front, best first (ties go to the shorter one), since
        their place on it depends on the rest of their grids; then the shortest.
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
        """Whether a prompt loses no more than one standard error against the best, as far as both are known."""
        if isinstance(prompt, Candidate) and isinstance(best, Candidate):
            return is_as_good(prompt, best, lambda one: self.problem.evaluator.predictions(one.prompt, "val"))
        lead = self.races.lead(prompt, best)
        return bool((lead.mean(axis=0) >= -standard_error(lead)).all())
