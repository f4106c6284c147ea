"""When rounds begin, and what each leaves in the study: its diagnosis, its new edits, and what is queued of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search._new_edits import new_edits

if TYPE_CHECKING:
    from psopt.search._fitting import Fitting
    from psopt.search._front import Candidate
    from psopt.search._history import History
    from psopt.search._problem import SearchProblem
    from psopt.search._queue import CandidateQueue
    from psopt.search._standings import Standings
    from psopt.search.distributed import Coordinator
    from psopt.search.growing import TrainDiagnoses
    from psopt.search.racing import StoppedCandidate


class Rounds:
    """Begins the rounds of a search when they are due, or leaves one to the worker that is at it.

    Parameters
    ----------
    problem : SearchProblem
    history : History
    standings : Standings
        The best prompt so far is what a round diagnoses.
    fitting : Fitting
        Says which candidates are obvious.
    queue : CandidateQueue
        Where they wait.
    diagnoses : TrainDiagnoses
    coordinator : Coordinator
        Leases a round to one worker.
    """

    def __init__(
        self,
        problem: SearchProblem,
        history: History,
        standings: Standings,
        fitting: Fitting,
        queue: CandidateQueue,
        diagnoses: TrainDiagnoses,
        coordinator: Coordinator,
    ) -> None:
        self._problem = problem
        self._history = history
        self._standings = standings
        self._fitting = fitting
        self._queue = queue
        self._diagnoses = diagnoses
        self._coordinator = coordinator

    def begin_due(self) -> bool:
        """Begin the rounds up to the one that the next trial belongs to; False where another worker does that."""
        due = self._due()
        while len(self._history.rounds) <= due:
            with self._coordinator.proposing(len(self._history.rounds)) as may_propose:
                if not may_propose:
                    return False
                self._history.refresh_pool()  # others may have been faster
                if len(self._history.rounds) <= due:
                    self._begin()
        return True

    def _due(self) -> int:
        """The round that the next trial belongs to: the trials after the first are shared out evenly."""
        options = self._problem.options
        done = len(self._history.evaluated) - 1
        total = max(1, options.trials - 1)
        return min(options.rounds - 1, max(len(self._history.rounds) - 1, done * options.rounds // total))

    def _begin(self) -> None:
        """Diagnose the best prompt so far on train, add what it needs to the pool, and queue the obvious candidates."""
        problem, history = self._problem, self._history
        number = len(history.rounds) + 1
        incumbent = self._standings.best
        problem.observer.phase(f"round {number}: diagnosing {incumbent.id} on train")
        self.read_diagnoses()  # those of other workers
        new = new_edits(problem, incumbent.prompt, history.pool, self._diagnoses)
        self._keep_diagnosis(number, incumbent)
        history.add_edits(new, self._coordinator.worker)
        for edits in self._fitting.obvious(new, problem.task.labels, is_first=number == 1):
            self._queue.put(edits, incumbent)
        problem.observer.phase(f"round {number}: searching {len(history.pool)} edits")

    def _keep_diagnosis(self, number: int, incumbent: Candidate | StoppedCandidate) -> None:
        """Write down what a round's diagnosis was answered, where that is a part of train."""
        if not self._diagnoses.grows:
            return
        self._problem.observer.phase(f"round {number}: {self._diagnoses.size_of(incumbent.id)}")
        self._history.keep_diagnosis(number, incumbent.prompt, self._coordinator.worker)

    def read_diagnoses(self) -> None:
        """Take over the diagnoses that the study holds, of whichever worker."""
        if not self._diagnoses.grows:
            return
        for prompt, answers in self._history.diagnosed():
            self._diagnoses.restore(prompt, answers)
