"""What a study holds of a search, from where everything that is known can be read back, and what follows from that."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from optuna.trial import TrialState
from psopt.evaluation import score
from psopt.search._front import Candidate, feasible_of, knee, pareto_front
from psopt.search._shorten import is_as_good, shortest
from psopt.search.distributed import (
    AUDIT,
    RACED,
    read_answers,
    read_further,
    read_rounds,
    read_train_answers,
    stored_edits,
    write_edits,
    write_further,
    write_train_answers,
)
from psopt.search.racing import Rung, StoppedCandidate, is_no_better, standard_error
from psopt.search_spaces import apply_edits, chosen_edits, with_titles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from optuna.trial import FrozenTrial
    from psopt.evaluation import Predictions, Scores
    from psopt.search._front import R, Tried
    from psopt.search._problem import SearchProblem
    from psopt.search.distributed import StoredStudy
    from psopt.search.racing import CandidateRaces
    from psopt.search_spaces import Edit, Prompt


class History:
    """The candidates that were evaluated so far and the edits that were proposed, by whichever worker."""

    def __init__(self, study: StoredStudy, problem: SearchProblem, races: CandidateRaces) -> None:
        self.candidates: list[Candidate] = []  # every distinct prompt evaluated in whole, by trial: the baseline first
        self.stopped: list[StoppedCandidate] = []  # those that stopped in their races or are held there, by trial
        self.rounds: list[list[Edit]] = []  # the new edits of each
        self.pool: list[Edit] = list(problem.first_edits)  # with the edits of all rounds
        self._study = study
        self._problem = problem
        self._stored_edits: dict[str, str] = {}
        self._races = races

    @property
    def evaluated(self) -> list[Tried]:
        """All that were evaluated, in whole or as far as their races went."""
        return [*self.candidates, *self.stopped]

    @property
    def has_queued(self) -> bool:
        """Whether candidates wait in the study."""
        return bool(self._study.trials_in(TrialState.WAITING))

    def refresh(self) -> list[Tried]:
        """Read what is new in the study; return the candidates that are."""
        numbers = {candidate.trial for candidate in self.evaluated}
        trials = [trial for trial in self._study.trials_in(TrialState.COMPLETE) if trial.number not in numbers]
        self.refresh_pool()  # after the trials, so that no trial has an edit that is not in the pool
        new = []
        for trial in trials:
            candidate = self._candidate_of(trial)
            self.add_candidate(candidate)  # the baseline is there when others are compared with it
            new.append(candidate)
        return new

    def refresh_pool(self) -> None:
        """Read the edits that were proposed."""
        stored = stored_edits(self._study)
        if stored == self._stored_edits:  # they are looked for at every trial, and come once a round
            return
        self.rounds = read_rounds(stored)
        self.pool = [*self._problem.first_edits, *(edit for edits in self.rounds for edit in edits)]
        self._stored_edits = stored

    def add_candidate(self, candidate: Tried) -> None:
        """Take into account what this process has evaluated, without reading it back."""
        if isinstance(candidate, StoppedCandidate):
            self.stopped = sorted([*self.stopped, candidate], key=lambda stopped: stopped.trial)
        elif isinstance(candidate, Candidate):
            self.candidates = sorted([*self.candidates, candidate], key=lambda whole: whole.trial)

    def ask_further(self, candidate: StoppedCandidate, *, wholly: bool = False) -> None:
        """Ask about the next rung of a candidate that is held, or about all of its grid, and write down the answers."""
        candidate = self._races.further(candidate, wholly=wholly)
        evaluator = self._problem.evaluator
        write_further(self._study, candidate.id, evaluator.partial_answers(candidate.prompt, "val"))
        self.stopped = [stopped for stopped in self.stopped if stopped.id != candidate.id]
        self.add_candidate(self._known(candidate))

    def add_edits(self, edits: Iterable[Edit], worker: str) -> None:
        """Write a further round of edits, with titles that no edit so far has."""
        write_edits(self._study, len(self.rounds), with_titles(edits, self.pool), worker)
        self.refresh_pool()

    def keep_diagnosis(self, number: int, prompt: Prompt, worker: str) -> None:
        """Write down what a prompt was answered on train, where a round's diagnosis has asked about a part of it."""
        answers = self._problem.evaluator.partial_answers(prompt, "train").array
        write_train_answers(self._study, number - 1, prompt.id, answers, worker)

    def diagnosed(self) -> Iterator[tuple[Prompt, NDArray[np.int64]]]:
        """Yield prompts and their answers on train, (N, Q), as `keep_diagnosis` of any worker has written them down."""
        prompts = {candidate.id: candidate.prompt for candidate in self.evaluated}
        for prompt_id, answers in read_train_answers(self._study):
            if prompt_id in prompts:
                yield prompts[prompt_id], answers

    def prompt_of(self, edits: Iterable[Edit], order: str) -> Prompt:
        """Return the prompt that these edits make when their trial is asked for: in the pool's order."""
        place = {edit: index for index, edit in enumerate(self.pool)}
        in_order = sorted(edits, key=lambda edit: place.get(edit, len(place)))
        return apply_edits(self._problem.baseline_prompt, in_order, order)

    def find(self, prompt_id: str) -> Tried | None:
        """Return the candidate with this prompt, if it was evaluated."""
        return next((candidate for candidate in self.evaluated if candidate.id == prompt_id), None)

    def _candidate_of(self, trial: FrozenTrial) -> Tried:
        edits, order = chosen_edits(trial.params, self.pool)
        prompt = apply_edits(self._problem.baseline_prompt, edits, order)
        evaluator = self._problem.evaluator
        for of_model, answers in zip(evaluator.each, read_answers(trial), strict=False):
            of_model.remember(prompt, "val", *answers)
        if RACED in trial.user_attrs:
            stopped = StoppedCandidate.read(trial, prompt, edits, order)
            return self._promoted(replace(stopped, val=self._races.marked(stopped.val, prompt)))
        audit = trial.user_attrs.get(AUDIT, "")
        return Candidate(trial.number, prompt, edits, self._on_val(prompt), order=order, audit=audit)

    def _promoted(self, stopped: StoppedCandidate) -> Tried:
        """Add what was asked of a candidate after its trial was finished."""
        further = read_further(self._study, stopped.id)
        if further is None:
            return stopped
        evaluator = self._problem.evaluator
        evaluator.remember(stopped.prompt, "val", *further)
        answered = evaluator.partial_answers(stopped.prompt, "val").is_answered
        rung = Rung(int(answered.any(axis=1).sum()), int(answered.sum(axis=1).max()))
        return self._known(replace(stopped, rung=rung))

    def _known(self, stopped: StoppedCandidate) -> Tried:
        """A candidate of which more was asked: with its scores where that is its whole grid, else with estimates."""
        if not self._problem.evaluator.knows(stopped.id, "val"):
            return replace(stopped, val=self._races.estimates(stopped.prompt, stopped.rung))
        scores = self._on_val(stopped.prompt)
        return Candidate(stopped.trial, stopped.prompt, stopped.edits, scores, order=stopped.order, audit=stopped.audit)

    def _on_val(self, prompt: Prompt) -> Scores:
        return score(self._problem.evaluator.predictions(prompt, "val"))


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
