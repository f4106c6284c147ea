"""Trials that others have finished, because their worker was taken for dead.

Optuna 5 says so by `UpdateFinishedTrialError`, from whatever writes to the trial. `Study.tell` says it by a ValueError,
as it says a dozen other things; with ``skip_if_finished`` it says nothing, and `UpdateFinishedTrialError` where the
others were faster by a hair. So that one class is all that has to be looked for, and the trial's state confirms it.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import optuna

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optuna.trial import TrialState
    from psopt.search.distributed._stored_study import StoredStudy


@dataclass
class Finished:
    """How a trial stands after a block of `finished_by_others`; None before its end."""

    state: TrialState | None = None


@contextlib.contextmanager
def finished_by_others(study: StoredStudy, number: int) -> Iterator[Finished]:
    """Leave the block where others have finished its trial; every other error goes through.

    Raises
    ------
    RuntimeError
        If a trial that nobody has finished is said to be.
    """
    finished = Finished()
    try:
        yield finished
    except optuna.exceptions.UpdateFinishedTrialError as error:
        state = study.read_trial(number).state
        if not state.is_finished():
            raise RuntimeError(f"trial {number} is {state.name}, but can't be written: {error}") from error
    finished.state = study.read_trial(number).state
