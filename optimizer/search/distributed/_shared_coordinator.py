"""Other workers on the same study: who evaluates what, who proposes, and who takes over from whom.

All that workers know of each other stands in the study. Nothing needs a lock: a worker first says what it is about to
do, then looks whether another one said the same, and only then says that it does it.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import optuna
from optuna.storages import RetryHeartbeatStaleTrialCallback
from optuna.trial import TrialState
from psopt.search.distributed._heartbeat import Heartbeat, Watch, interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BEAT, _PROMPT, _CLAIMED, _ROUND = "psopt:beat", "prompt_id", "psopt:claimed", "psopt:round"
_PAUSE = 0.2
FULL = "the total of trials is reached"


class SharedCoordinator:
    """The other workers of a study, as one of them sees them.

    Parameters
    ----------
    study : optuna.Study
    worker : str
        This worker's name, unlike any other's.
    total : int
        Candidates that the study is to evaluate.
    tell : callable
        Is told when this worker's heartbeat does not get through.
    """

    def __init__(self, study: optuna.Study, worker: str, total: int, tell: Callable[[str], None]) -> None:
        self._study, self._worker, self._total, self._tell = study, worker, total, tell
        self._watch = Watch()

    def heartbeat(self, trial: optuna.Trial) -> Heartbeat:
        """Show the others, for the block, that a trial is worked on."""
        storage, trial_id = self._study._storage, trial._trial_id
        return Heartbeat(
            lambda number: storage.set_trial_system_attr(trial_id, _BEAT, [self._worker, number]), self._tell
        )

    def has(self, trial: optuna.Trial) -> bool:
        """Whether this worker is the one that has a trial: SQLite may hand one that waits to two at the same time."""
        storage = self._study._storage
        try:
            storage.set_trial_system_attr(trial._trial_id, _BEAT, [self._worker, -1])
            time.sleep(_PAUSE)
            held = storage.get_trial(trial._trial_id)
        except optuna.exceptions.UpdateFinishedTrialError:
            return False
        return bool(held.system_attrs[_BEAT][0] == self._worker and not held.state.is_finished())

    def claim(self, trial: optuna.Trial, prompt_id: str) -> str | None:
        """Claim a prompt for a trial; if it must not be evaluated, return why.

        The trial with the lower number goes first, both where two are after the same prompt and where there is room for
        one more only.
        """
        trial.set_user_attr(_PROMPT, prompt_id)
        while True:
            running = self._others(trial)  # before those that are done: none can slip from the one to the other
            done = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
            if any(one.user_attrs.get(_PROMPT) == prompt_id for one in done):
                return "another worker has evaluated it"
            if len(done) + sum(one.number < trial.number for one in running) >= self._total:
                return FULL
            twins = [one for one in running if one.user_attrs.get(_PROMPT) == prompt_id]
            if any(one.number < trial.number or one.user_attrs.get(_CLAIMED) for one in twins):
                return "another worker evaluates it"
            if not twins:
                trial.set_user_attr(_CLAIMED, self._worker)
                return None
            self.revive()
            time.sleep(_PAUSE)  # the twin gives way or claims it

    def revive(self) -> None:
        """Fail the trials of workers that have died, and queue them again."""
        storage = self._study._storage
        for trial in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            if not self._watch.is_still(("trial", trial.number), trial.system_attrs.get(_BEAT)):
                continue
            with contextlib.suppress(optuna.exceptions.UpdateFinishedTrialError):
                storage.set_trial_user_attr(trial._trial_id, "failed", "its worker has died; it is queued again")
                if storage.set_trial_state_values(trial._trial_id, state=TrialState.FAIL):
                    RetryHeartbeatStaleTrialCallback()(self._study, storage.get_trial(trial._trial_id))

    @property
    def busy(self) -> bool:
        """Whether some trial is worked on or waits."""
        states = (TrialState.RUNNING, TrialState.WAITING)
        return bool(self._study.get_trials(deepcopy=False, states=states))

    @property
    def queued(self) -> bool:
        """Whether some trial waits."""
        return bool(self._study.get_trials(deepcopy=False, states=(TrialState.WAITING,)))

    @contextlib.contextmanager
    def proposing(self, number: int) -> Iterator[bool]:
        """Lease a round for the block; False if another worker is at it."""
        key = f"{_ROUND}:{number}"
        held: list[Any] | None = self._study.user_attrs.get(key)
        if held is not None and held[0] != self._worker and not self._watch.is_still(("round", number), held):
            yield False
            return
        self._study.set_user_attr(key, [self._worker, -1])
        time.sleep(_PAUSE)
        if self._study.user_attrs[key][0] != self._worker:
            yield False
            return
        with Heartbeat(lambda beat: self._study.set_user_attr(key, [self._worker, beat]), self._tell):
            yield True

    def wait(self) -> None:
        """Let the others work for a moment."""
        self.revive()
        time.sleep(min(1.0, interval()))

    def _others(self, trial: optuna.Trial) -> list[optuna.trial.FrozenTrial]:
        running = self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        return [one for one in running if one.number != trial.number]


class LocalCoordinator(SharedCoordinator):
    """No other workers: everything may be done at once, and nothing needs to be said."""

    def heartbeat(self, trial: optuna.Trial) -> Any:  # noqa: ARG002
        """Show nothing."""
        return contextlib.nullcontext()

    def has(self, trial: optuna.Trial) -> bool:  # noqa: ARG002
        """It has."""
        return True

    def claim(self, trial: optuna.Trial, prompt_id: str) -> str | None:  # noqa: ARG002
        """Claim it."""
        return None

    def revive(self) -> None:
        """Fail what a crash has left, and queue it again: nobody else is at it."""
        for trial in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            self._study.tell(trial.number, state=TrialState.FAIL)
            if trial.params:
                self._study.enqueue_trial(trial.params)

    @contextlib.contextmanager
    def proposing(self, number: int) -> Iterator[bool]:  # noqa: ARG002
        """Propose."""
        yield True
