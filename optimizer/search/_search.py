"""The loop: the baseline, then rounds of diagnose, propose and search, then shorter versions of the best prompt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from psopt.search._front import Candidate
from psopt.search._rounds import RoundsOfEdits, TrainDiagnoses
from psopt.search._sources import CandidateQueue, first_candidates, in_place_of, objection, shorter_versions
from psopt.search._state import History, SearchState
from psopt.search._trial import CandidateTrials, Draw, drop_trial
from psopt.search.distributed._coordinator import TOTAL_REACHED, Coordinator, SharedCoordinator
from psopt.search.racing._candidate_races import CandidateRaces, RaceCounts, StoppedCandidate, races
from psopt.search_spaces import ORDERS, apply_edits, suggest_edits

if TYPE_CHECKING:
    import optuna
    from psopt.search._front import Tried
    from psopt.search._problem import SearchProblem
    from psopt.search.distributed import StoredStudy

_TRIES_FOR_A_NEW_CANDIDATE = 50  # if this many draws and neighbours are all known already, the space is used up


class Search:
    """A search in an Optuna study. All that it knows is read back from the study, so it continues where the study ends.

    `worker` is a name that no other worker of the study has; empty if no other worker may join. It stops after this
    process has evaluated `most_own` candidates. Raises InputError if racing is requested explicitly, and what is
    compared does not allow it.
    """

    def __init__(
        self, study: StoredStudy, problem: SearchProblem, *, worker: str = "", most_own: int | None = None
    ) -> None:
        self.study = study
        self.problem = problem
        self.n_own = 0  # candidates that this process evaluated
        self.is_completing = False  # whether the reserve for completing the front may be spent
        self._most_own = most_own
        options, evaluator = problem.options, problem.evaluator
        are_run = races(options.race, evaluator)
        self._races = CandidateRaces(evaluator, problem.baseline_prompt, options, are_run=are_run)
        self.history = History(study, problem, self._races)  # what the study holds
        self.state = SearchState(problem, self.history, self._races)  # what follows from that
        self.diagnoses = TrainDiagnoses(evaluator, options.seed, is_partial=are_run and not problem.task.spec.is_open)
        self.coordinator = Coordinator(study)
        if worker:
            self.coordinator = SharedCoordinator(study, worker, options.trials, problem.observer.phase)
        self._trials = CandidateTrials(study, self.state)
        self._queue = CandidateQueue(study, self.state, worker)
        self._rounds = RoundsOfEdits(self.diagnoses, self.coordinator)
        self._sources = partial(first_candidates, self.coordinator), self._rounds.next
        self.coordinator.recover()
        self.history.refresh()

    def run(self, *, completes_front: bool = True) -> None:
        """Run until the total is reached or nothing new can be tried; exactly one process `completes_front`."""
        while self._take_a_step() or self._outlast_the_others():
            pass
        if completes_front:
            self.complete_front()

    def _take_a_step(self) -> bool:
        """Take the next step; return False when there is nothing left to do."""
        self._refresh()
        if self._is_complete():
            return False
        for source in self._sources:
            self._queue.put(source(self.state))
        if shorter := shorter_versions(self.state):
            self._queue.drop_all()
            self._queue.put(shorter)
        if self._depends_on_others():
            self.coordinator.wait()
            return True
        if not self.candidates:
            self.problem.observer.phase("evaluating the original prompt")
        return self._evaluate_a_new_candidate() or self._begin_a_round_early()

    def complete_front(self) -> None:
        """Ask for the whole grids of held candidates that may be on the front, and of the shortest that is as good."""
        if not self.candidates or not self._races.are_run:
            return
        self.is_completing = True
        waiting = self.state.waiting()
        if waiting is not None:
            self.problem.observer.phase("asking the rest of val about the prompts that may stand on the front")
        while waiting is not None:
            # The best one's grid is completed at once: a limit reached amid several would leave none to recommend.
            self.history.ask_further(waiting, wholly=len(self.candidates) == 1)
            waiting = self.state.waiting()

    def _depends_on_others(self) -> bool:
        """Whether nothing can be tried before another worker has evaluated the baseline, or proposed edits."""
        return not self.history.rounds and not self.history.has_queued

    def _evaluate_a_new_candidate(self) -> bool:
        """Evaluate one candidate that was not evaluated before; False when none can be found."""
        for _ in range(_TRIES_FOR_A_NEW_CANDIDATE):
            trial = self.study.ask()
            if not self.coordinator.owns(trial.number):
                continue
            with self.study.finished_by_others(trial.number):
                if self._try(trial):
                    return True
        return False

    def _begin_a_round_early(self) -> bool:
        """Begin the next round, since all that its edits so far allow was tried; False if all rounds have begun."""
        n_begun = len(self.history.rounds)
        self._queue.put(self._rounds.next(self.state, is_early=True))
        return len(self.history.rounds) > n_begun

    def _try(self, trial: optuna.Trial) -> bool:
        """Evaluate a trial's candidate, or drop it; return whether that counts as a step."""
        with self.coordinator.heartbeat(trial.number):
            self.history.refresh_pool()  # a queued trial may hold edits that were added since
            orders = ORDERS if self.problem.reads_order else ORDERS[:1]
            edits, order = suggest_edits(trial, self.state.pool, orders)
            prompt = apply_edits(self.problem.baseline_prompt, edits, order)
            unfit = reason = objection(self.state, edits)
            if twin := self.history.find(prompt.id):
                reason = unfit or f"duplicate of trial {twin.trial}"
            reason = reason or self.coordinator.claim(trial.number, prompt.id) or ""
            if not reason:
                self.problem.observer.begin_trial(trial.number, prompt)
                if (candidate := self._trials.evaluate(Draw(trial, prompt, edits, order))) is not None:
                    self.n_own += 1
                    self.history.add_candidate(candidate)
                    self._tell(candidate)
                return True
        drop_trial(self.study, trial, reason)
        self._refresh()
        if self._is_complete() or reason == TOTAL_REACHED:
            self.coordinator.wait()
            return True
        if not self.history.rounds:  # nothing else is known yet that could be tried in its place
            return self._depends_on_others()
        substitute = in_place_of(self.state, edits) if unfit else self._queue.neighbour(edits)
        self._queue.put_untried(substitute, order)
        return False

    def _outlast_the_others(self) -> bool:
        """Wait until no other worker has a trial running; True if one has died and its trial is queued again."""
        while self._most_own is None and self.coordinator.is_busy() and not self._is_complete():
            if self.coordinator.wait():
                return True
            self._refresh()
        return False

    def _refresh(self) -> None:
        for candidate in self.history.refresh():
            self._tell(candidate)

    def _tell(self, candidate: Tried) -> None:
        observer, n_done, total = self.problem.observer, self.state.n_done, self.problem.options.trials
        if isinstance(candidate, StoppedCandidate):
            observer.stopped(candidate, n_done, total)
        elif isinstance(candidate, Candidate):
            observer.trial(candidate, n_done, total)

    def _is_complete(self) -> bool:
        is_done = self.state.n_done >= self.problem.options.trials
        return self.study.is_to_stop or is_done or self.n_own == self._most_own

    @property
    def candidates(self) -> list[Candidate]:
        """Every distinct prompt evaluated completely so far, the baseline first."""
        return self.history.candidates

    @property
    def stopped(self) -> list[StoppedCandidate]:
        return self.history.stopped

    @property
    def race_counts(self) -> RaceCounts | None:
        """What racing has saved so far; None if candidates don't race."""
        if not self.candidates or not (self._races.are_run or self.stopped):
            return None
        on_val = self.problem.evaluator.predictions(self.problem.baseline_prompt, "val")
        return RaceCounts.of(self.candidates, self.stopped, on_val.array.size)

    @property
    def finish_reason(self) -> str:
        """Why there is nothing left to do: ``trials``, ``stopped`` (by a callback) or ``exhausted``."""
        if self.state.n_done >= self.problem.options.trials:
            return "trials"
        return "stopped" if self.study.is_to_stop else "exhausted"
