"""An Optuna study whose trials can be read and written by their number."""

from __future__ import annotations

import contextlib
import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import optuna
from optuna.storages import RetryHeartbeatStaleTrialCallback
from optuna.trial import TrialState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial
    from psopt.search.distributed._storage import RetryPolicy


class StoredStudy(optuna.Study):
    """An existing study that exposes its storage, as Optuna's trials do.

    `optuna.Study` hides it, and has no public access to the system attributes of a trial, nor to any trial that another
    process has.
    """

    def __init__(
        self, name: str, storage: BaseStorage, sampler: optuna.samplers.BaseSampler, policy: RetryPolicy
    ) -> None:
        super().__init__(name, storage, sampler)
        self.storage = storage
        self.retry_policy = policy
        self._id = storage.get_study_id_from_name(name)
        self.is_to_stop = False

    def stop(self) -> None:
        """Ask that nothing more is tried, as callbacks do: what was found is scored, and the run can be resumed."""
        self.is_to_stop = True

    def trials_in(self, *states: TrialState) -> list[FrozenTrial]:
        """Return the trials in these states, by number."""
        return self.get_trials(deepcopy=False, states=states)

    def read_trial(self, number: int) -> FrozenTrial:
        """Return a trial as the storage has it now."""
        return self.storage.get_trial(self._trial_id(number))

    def set_trial_attr(self, number: int, key: str, value: Any) -> None:
        """Set an attribute of a trial that everyone sees."""
        self.storage.set_trial_user_attr(self._trial_id(number), key, value)

    def set_hidden_trial_attr(self, number: int, key: str, value: Any) -> None:
        """Set an attribute of a trial that the dashboard does not show."""
        self.storage.set_trial_system_attr(self._trial_id(number), key, value)

    def hidden_attrs(self) -> dict[str, Any]:
        """Return the attributes of the study that the dashboard does not show."""
        return self.storage.get_study_system_attrs(self._id)

    def set_hidden_attr(self, key: str, value: Any) -> None:
        """Set an attribute of the study that the dashboard does not show."""
        self.storage.set_study_system_attr(self._id, key, value)

    def fail_trial(self, number: int) -> None:
        """Finish a trial as failed.

        Raises UpdateFinishedTrialError if it is finished already.
        """
        self.storage.set_trial_state_values(self._trial_id(number), state=TrialState.FAIL)

    def queue_again(self, number: int) -> None:
        """Queue what a trial was meant to try.

        Its attributes are left out: a claim by the worker that has died would keep others from its prompt.
        """
        trial = copy.deepcopy(self.read_trial(number))
        trial.user_attrs = {}
        RetryHeartbeatStaleTrialCallback()(self, trial)

    def _trial_id(self, number: int) -> int:
        return self.storage.get_trial_id_from_study_id_trial_number(self._id, number)


@dataclass
class Finished:
    """The state of a trial after a block of `finished_by_others`; None before its end."""

    state: TrialState | None = None


@contextlib.contextmanager
def finished_by_others(study: StoredStudy, number: int) -> Iterator[Finished]:
    """Leave the block quietly if others have finished its trial because they took its worker for dead.

    Every other error passes through. In Optuna 5, any write to such a trial raises `UpdateFinishedTrialError`.
    `Study.tell` raises ValueError instead, as for a dozen other reasons; with ``skip_if_finished`` it raises nothing,
    or the former if the others were only just faster. So it is enough to catch that class, and the trial's state
    confirms it.

    Raises RuntimeError if the error comes for a trial that nobody has finished.
    """
    finished = Finished()
    try:
        yield finished
    except optuna.exceptions.UpdateFinishedTrialError as error:
        state = study.read_trial(number).state
        if not state.is_finished():
            raise RuntimeError(f"trial {number} is {state.name}, but can't be written: {error}") from error
    finished.state = study.read_trial(number).state
