"""When rounds begin, what each leaves in the study, and which candidates are obvious then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.search._new_edits import new_edits
from psopt.search._sources import Choice

if TYPE_CHECKING:
    from psopt.search._fitting import Fitting
    from psopt.search._state import SearchState
    from psopt.search._train_diagnoses import TrainDiagnoses
    from psopt.search.distributed import Coordinator


class RoundsOfEdits:
    """Begins a round where one is due, unless another worker is at it, and names its obvious candidates.

    Parameters
    ----------
    fitting : Fitting
        Says which candidates are obvious.
    diagnoses : TrainDiagnoses
    coordinator : Coordinator
        Leases a round to one worker.
    """

    replaces_queue = False

    def __init__(self, fitting: Fitting, diagnoses: TrainDiagnoses, coordinator: Coordinator) -> None:
        self._fitting = fitting
        self._diagnoses = diagnoses
        self._coordinator = coordinator

    def next(self, state: SearchState) -> list[Choice]:
        """Begin the rounds up to the one that the next trial belongs to, once the first candidates are evaluated."""
        history = state.history
        choices: list[Choice] = []
        if not history.candidates or (not history.rounds and history.has_queued):
            return choices
        due = _due(state)
        while len(history.rounds) <= due:
            with self._coordinator.proposing(len(history.rounds)) as may_propose:
                if not may_propose:
                    return choices
                history.refresh_pool()  # others may have been faster
                if len(history.rounds) <= due:
                    choices += self._begin(state)
        return choices

    def _begin(self, state: SearchState) -> list[Choice]:
        """Diagnose the best prompt so far on train, add what it needs to the pool; return the obvious candidates."""
        problem, history = state.problem, state.history
        number = len(history.rounds) + 1
        incumbent = state.best
        problem.observer.phase(f"round {number}: diagnosing {incumbent.id} on train")
        self.read_diagnoses(state)  # those of other workers
        new = new_edits(problem, incumbent.prompt, history.pool, self._diagnoses)
        if self._diagnoses.is_partial:
            self._diagnoses.add(incumbent.id)
            problem.observer.phase(f"round {number}: {self._diagnoses.sizes[-1]}")
            history.keep_diagnosis(number, incumbent.prompt, self._coordinator.worker)
        history.add_edits(new, self._coordinator.worker)
        problem.observer.phase(f"round {number}: searching {len(history.pool)} edits")
        obvious = self._fitting.obvious(new, problem.task.labels, is_first=number == 1)
        return [Choice.like(incumbent, edits, problem) for edits in obvious]

    def read_diagnoses(self, state: SearchState) -> None:
        """Take over the diagnoses that the study holds, of whichever worker."""
        if self._diagnoses.is_partial:
            for prompt, answers in state.history.diagnosed():
                self._diagnoses.restore(prompt, answers)


def _due(state: SearchState) -> int:
    """The round that the next trial belongs to: the trials after the first are shared out evenly."""
    options, begun = state.problem.options, len(state.history.rounds)
    return min(options.rounds - 1, max(begun - 1, (state.n_done - 1) * options.rounds // max(1, options.trials - 1)))
