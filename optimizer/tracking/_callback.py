"""Callbacks in Optuna's form, as trackers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from optuna.study import Study
from optuna.trial import FrozenTrial
from psopt.tracking._base import Tracker

if TYPE_CHECKING:
    from psopt.tracking._trial_record import TrialRecord

OptunaCallback = Callable[[Study, FrozenTrial], None]
"""``callback(study, trial)``, called after each trial, as `optuna.study.Study.optimize` calls its callbacks."""


class CallbackTracker(Tracker):
    """Calls a function with the study and each trial of this process, or of its workers.

    Parameters
    ----------
    callback : callable
    study : callable
        Returns the study.
    """

    def __init__(self, callback: OptunaCallback, study: Callable[[], Study | None]) -> None:
        self._callback = callback
        self._study = study
        self.name = getattr(callback, "__qualname__", type(callback).__qualname__)

    def trial(self, trial: TrialRecord) -> None:
        """Call the function."""
        study = self._study()
        if study is not None and trial.frozen is not None:
            self._callback(study, trial.frozen)
