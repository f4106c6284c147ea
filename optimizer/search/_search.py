"""The loop: the baseline, then rounds of diagnose, propose and search, then shorter versions of the best prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from optuna.trial import TrialState
from psopt.search._candidate_trial import CandidateTrials
from psopt.search._fitting import TOO_LARGE, Fitting
from psopt.search._front import Candidate, knee
from psopt.search._history import History
from psopt.search._options import n_shortening
from psopt.search._queue import CandidateQueue, drop_queued
from psopt.search._rounds import Rounds
from psopt.search._shorter_candidates import ShorterCandidates
from psopt.search._standings import Standings
from psopt.search._trial import drop_trial
from psopt.search.distributed import (
    TOTAL_REACHED,
    Coordinator,
    LocalCoordinator,
    SharedCoordinator,
    finished_by_others,
)
from psopt.search.distributed._study_keys import FURTHER_TRIALS
from psopt.search.growing import TrainDiagnoses
from psopt.search.racing import CandidateRaces, RaceCounts, StoppedCandidate, races
from psopt.search_spaces import apply_edits, suggest_edits

if TYPE_CHECKING:
    from collections.abc import Callable

    import optuna
    from psopt.search._problem import SearchProblem
    from psopt.search.distributed import StoredStudy
    from psopt.search_spaces import Edit, Prompt

_TRIES_FOR_A_NEW_CANDIDATE = 50  # draws and their neighbours that are all known already: the space is used up


class Search:
    """A search in an Optuna study. Everything it knows can be read back from there, so that it can be resumed.

    Parameters
    ----------
    study : StoredStudy
    problem : SearchProblem
    worker : str
        A name that no other worker of the study has; empty where no other one may join.
    most_own : int, optional
        Stop after so many candidates that this process evaluated.

    Attributes
    ----------
    coordinator : Coordinator
        Says what this worker may take.
    history : History
        What the study holds.
    diagnoses : TrainDiagnoses
        What of train prompts were diagnosed on.
    n_own : int
        How many of the candidates this process evaluated.
    is_completing : bool
        Whether the front is being completed: what is held back for that may be spent.
    n_further : callable
        Says how many candidates the limits pay for beyond those of the search and its end; by default none.
    on_new_best : callable
        Called when another candidate is the best so far.

    Raises
    ------
    InputError
        If racing is asked for by name, and what is compared does not allow it.
    """

    def __init__(
        self, study: StoredStudy, problem: SearchProblem, *, worker: str = "", most_own: int | None = None
    ) -> None:
        self.study = study
        self.problem = problem
        self.n_own = 0
        self.is_completing = False
        self.n_further: Callable[[], int] = lambda: 0
        self.on_new_best: Callable[[], None] = lambda: None
        self._best_id = ""
        self._most_own = most_own
        self.history = History(study, problem)
        are_run = races(problem.options.race, problem.evaluator)
        self._races = CandidateRaces(problem.evaluator, problem.options, are_run=are_run)
        self._standings = Standings(self.history, problem, self._races)
        self._fitting = Fitting(problem, self.history, self._standings)
        self._trials = CandidateTrials(study, problem, self.history, self._standings, self._races)
        self.coordinator: Coordinator = (
            SharedCoordinator(study, worker, lambda: self.total, problem.observer.phase)
            if worker
            else LocalCoordinator(study)
        )
        self._queue = CandidateQueue(study, problem, self.history, self._fitting, worker)
        self._shorter = ShorterCandidates(problem, self.history, self._standings, self._races, self._fitting)
        self.diagnoses = TrainDiagnoses(
            problem.evaluator,
            problem.task,
            problem.options.seed,
            grows=are_run and not problem.task.spec.is_open,
            most=problem.options.most_diagnosis_calls,
        )
        self._rounds = Rounds(
            problem, self.history, self._standings, self._fitting, self._queue, self.diagnoses, self.coordinator
        )

    @classmethod
    def resume(
        cls, study: StoredStudy, problem: SearchProblem, *, worker: str = "", most_own: int | None = None
    ) -> Self:
        """Make a search that begins where its study ends: at the very beginning, if that is new."""
        search = cls(study, problem, worker=worker, most_own=most_own)
        search.coordinator.recover()
        search.history.refresh()
        search._rounds.read_diagnoses()
        return search

    @property
    def candidates(self) -> list[Candidate]:
        """Every distinct prompt evaluated in whole so far, the baseline first."""
        return self.history.candidates

    @property
    def stopped(self) -> list[StoppedCandidate]:
        """The candidates that stopped in their races."""
        return self.history.stopped

    @property
    def n_done(self) -> int:
        """How many candidates were evaluated, those that stopped among them."""
        return len(self.history.evaluated)

    @property
    def race_counts(self) -> RaceCounts | None:
        """What racing has saved so far; None where candidates don't race."""
        if not self.candidates or not (self._races.are_run or self.stopped):
            return None
        on_val = self.problem.evaluator.predictions(self.problem.baseline_prompt, "val")
        return RaceCounts.of(self.candidates, self.stopped, on_val.array.size)

    @property
    def finish_reason(self) -> str:
        """Why there is nothing left to do: ``trials`` or ``exhausted``."""
        return "trials" if self.n_done >= self.problem.options.trials else "exhausted"

    @property
    def total(self) -> int:
        """After how many trials all ends: those that were asked for, and what the limits pay for beyond them."""
        trials = self.problem.options.trials
        return trials + int(self.study.user_attrs.get(f"{FURTHER_TRIALS}:{trials}", 0))

    @property
    def pool(self) -> list[Edit]:
        """Every edit proposed so far."""
        return self.history.pool

    @property
    def baseline(self) -> Candidate:
        """The baseline prompt, as evaluated."""
        return self._standings.baseline

    @property
    def best(self) -> Candidate | StoppedCandidate:
        """The knee of all that may come to stand on the front."""
        return self._standings.best

    @property
    def least_f1(self) -> float:
        """The F1 on val below which a candidate is infeasible."""
        return self._standings.least_f1

    @property
    def front(self) -> tuple[Candidate, ...]:
        """The Pareto front so far, on val, of whole grids, of what is small enough to be handed back."""
        return self._standings.front

    @property
    def leaders(self) -> tuple[Candidate | StoppedCandidate, ...]:
        """The front as it will be about: with those of which a part of the grid is known, by estimates."""
        return self._standings.leaders

    @property
    def shortest(self) -> Candidate:
        """The candidate with fewest edits that is no worse than the knee by more than one standard error."""
        return self._standings.shortest

    def run(self, *, completes_front: bool = True) -> None:
        """Run until the total of trials is reached or nothing new can be tried; other workers' trials count.

        Parameters
        ----------
        completes_front : bool
            Whether this process is the one that asks for the whole grids of the front at the end.
        """
        while self._take_a_step() or self._outlast_the_others():
            pass
        if completes_front:
            self.complete_front()

    def complete_front(self) -> None:
        """Ask for whole grids of those held that may stand on the front, and of the shortest that is as good."""
        if not self.candidates or not self._races.are_run:
            return
        self.is_completing = True
        while (waiting := self._waiting()) is not None:
            self.problem.observer.phase(f"asking more about {waiting.id}, which may stand on the front")
            self.history.promote(self._races.further(waiting, self.baseline))

    def _waiting(self) -> StoppedCandidate | None:
        """Whose whole grid is to be known before the search can end."""
        contender = next(self._standings.contenders(), None)
        if contender is not None:
            return contender
        short = self._standings.short_of(knee(self.leaders, self.baseline), self._standings.fitting)
        return short if isinstance(short, StoppedCandidate) else None

    def _take_a_step(self) -> bool:
        """Do what comes next; False when there is nothing left to do."""
        self._refresh()
        self._spend_what_was_saved()
        if self._is_complete():
            return False
        if not self.candidates:
            return self._evaluate_baseline()
        if not self.history.rounds and self.study.trials_in(TrialState.WAITING):
            return self._evaluate_a_new_candidate()
        if not self._rounds.begin_due() and not self.pool:
            self.coordinator.wait()  # for the first edits, which another worker proposes
            return True
        if self._is_shortening():
            self._queue_shorter()
        return self._evaluate_a_new_candidate()

    def _outlast_the_others(self) -> bool:
        """Wait until no other worker has a trial in hand; True where one has died and left it to this one."""
        while self._most_own is None and self.coordinator.is_busy() and not self._is_complete():
            if self.coordinator.wait():
                return True
            self._refresh()
        return False

    def _refresh(self) -> None:
        """Read what other workers have done."""
        for candidate in self.history.refresh():
            self._tell(candidate)

    def _tell(self, candidate: Candidate | StoppedCandidate) -> None:
        observer, total = self.problem.observer, self.total
        if isinstance(candidate, StoppedCandidate):
            observer.stopped(candidate, self.n_done, total)
        else:
            observer.trial(candidate, self.n_done, total)
        if self.candidates and (best := self.best).id != self._best_id:
            self._best_id = best.id
            self.on_new_best()

    def _is_complete(self) -> bool:
        return self.n_done >= self.total or self.n_own == self._most_own

    def _is_shortening(self) -> bool:
        """Whether the last trials have begun, which try shorter versions of the best prompt."""
        return self.n_done >= self._begins_shortening

    @property
    def _begins_shortening(self) -> int:
        """After how many trials shorter versions of the best prompt are tried."""
        total = self.total
        return total - n_shortening(total)

    def _spend_what_was_saved(self) -> None:
        """Where only shorter prompts are left to try, search on as long as the limits pay for it."""
        trials, most_trials = self.problem.options.trials, self.problem.options.most_trials
        is_searched = self.n_done == self._begins_shortening
        if most_trials is None or self.total >= most_trials or not is_searched:
            return
        n_trials = min(most_trials - self.total, self.n_further())
        if n_trials > 0:
            self.study.set_user_attr(f"{FURTHER_TRIALS}:{trials}", self.total - trials + n_trials)
            self.problem.observer.phase(f"the limit pays for {n_trials} more candidates: {self.total} trials in all")

    def _evaluate_baseline(self) -> bool:
        """Evaluate the baseline, or wait for the worker that does."""
        is_queued = bool(self.study.trials_in(TrialState.WAITING))
        if not is_queued and self.coordinator.is_busy():
            self.coordinator.wait()
            return True
        if not is_queued:
            self._queue.put_first()
        self.problem.observer.phase("evaluating the seed prompt")
        return self._evaluate_a_new_candidate()

    def _evaluate_a_new_candidate(self) -> bool:
        """Evaluate one candidate that was not evaluated before; False when none can be found."""
        for _ in range(_TRIES_FOR_A_NEW_CANDIDATE):
            trial = self.study.ask()
            if not self.coordinator.owns(trial.number):
                continue
            with finished_by_others(self.study, trial.number):
                if self._try(trial):
                    return True
        return False

    def _try(self, trial: optuna.Trial) -> bool:
        """Evaluate a trial's candidate, or drop it; True when that was a step."""
        with self.coordinator.heartbeat(trial.number):
            self.history.refresh_pool()  # what waited may hold edits that have come since
            edits, order = suggest_edits(trial, self.pool, self.problem.orders)
            prompt = apply_edits(self.problem.baseline_prompt, edits, order)
            fitting = self._fitting.in_place_of(prompt, edits)
            twin = self.history.find(prompt.id)
            reason = TOO_LARGE if fitting else f"duplicate of trial {twin.trial}" if twin else None
            reason = reason or self.coordinator.claim(trial.number, prompt.id)
            if reason is None:
                self._evaluate(trial, prompt, edits, order)
                return True
        drop_trial(self.study, trial, reason)
        self._refresh()
        if self._is_complete() or reason == TOTAL_REACHED:
            self.coordinator.wait()
            return True
        self._queue.put_untried(fitting or self._queue.neighbour(edits, order), order)
        return False

    def _evaluate(self, trial: optuna.Trial, prompt: Prompt, edits: tuple[Edit, ...], order: str) -> None:
        self.problem.observer.begin_trial(trial.number, prompt)
        candidate = self._trials.evaluate(trial, prompt, edits, order, is_shortening=self._is_shortening())
        if candidate is not None:
            self.n_own += 1
            self.history.add_candidate(candidate)
            self._tell(candidate)

    def _queue_shorter(self) -> None:
        """Put a shorter version of the best prompt in front of what is queued, unless all were tried."""
        base = self._shorter.base()
        untried = self._shorter.untried(base, is_first=self.n_done == self._begins_shortening)
        if not untried:
            return
        if new := [edit for edit in untried[0] if edit not in self.pool]:
            self.history.add_edits(new, self.coordinator.worker)
        drop_queued(self.study)
        self._queue.put(untried[0], base)
