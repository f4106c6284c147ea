"""What a study holds of a search: everything that is known can be read back from there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from optuna.trial import TrialState
from psopt.evaluation import score
from psopt.search._front import Candidate
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
from psopt.search.racing import Rung, StoppedCandidate
from psopt.search_spaces import apply_edits, chosen_edits, with_titles

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray
    from optuna.trial import FrozenTrial
    from psopt.evaluation import Scores
    from psopt.search._front import Tried
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
        for one, answers in zip(evaluator.each, read_answers(trial), strict=False):
            one.remember(prompt, "val", *answers)
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
