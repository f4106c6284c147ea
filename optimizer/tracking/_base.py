"""What a tracker is: whoever is told of a run and tells somebody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from optuna.study import Study
from optuna.trial import FrozenTrial

if TYPE_CHECKING:
    from psopt.models.chat import CallWatcher
    from psopt.search_spaces import Prompt
    from psopt.tracking._records import RunRecord, TrialRecord

Ending = Literal["finished", "failed", "killed"]
"""How a run has ended: with a result, also one that a limit has cut short; by an error; by Ctrl-C."""
OptunaCallback = Callable[[Study, FrozenTrial], None]
"""``callback(study, trial)``, called after each trial, as `optuna.study.Study.optimize` calls its callbacks."""


class Tracker:
    """Is told of a run by `Tracking`, in the process that optimizes.

    Every method may be overridden, and does nothing here. They are called in this order.

    1. `check`, before anything is asked: it raises where the tracker can't do its work.
    2. `start`, when the run directory stands and the study is open.
    3. `begin_trial` and `trial`, for each candidate; `trial` alone for those that other workers have evaluated, and
       for those of an earlier part of the run that this tracker was not told of.
    4. `end`, whatever ends the run, once everything is written; then `close`.

    Whatever `start` and those after it raise is said once, in a line; the tracker is told nothing more, and the run
    goes on. So none of them needs to catch anything.

    Attributes
    ----------
    name : str
        By which the run directory knows the tracker again, such as ``mlflow:EXPERIMENT``.
    place : str
        Where what it records can be seen, for the screen; known once it has started. Empty for nothing to say.
    call_watcher : callable or None
        Is told of each call to a language model.
    """

    name: str = "tracker"
    place: str = ""
    call_watcher: CallWatcher | None = None

    def check(self) -> None:
        """Refuse to begin where the tracker can't do its work: import its package, reach its server."""

    def start(self, run: RunRecord, kept: dict[str, Any]) -> None:
        """Begin to record a run, or go on with what an earlier part of it has begun.

        `kept` is the tracker's own JSON data in the run directory, empty at first: what it puts there it finds again
        when the run is resumed. A tracker that can't go on empties it, and is told of all trials anew.
        """

    def begin_trial(self, number: int, prompt: Prompt) -> None:
        """Take note that a candidate is about to be evaluated here."""

    def trial(self, trial: TrialRecord) -> None:
        """Record a candidate that was evaluated, or stopped in its race."""

    def end(self, run: RunRecord, ending: Ending) -> None:
        """Record what came out."""

    def close(self) -> None:
        """Let go of everything: the last call, also where the run never began, or the tracker has failed."""


class CallbackTracker(Tracker):
    """Calls a function with the study and each trial of this process, or of its workers."""

    def __init__(self, callback: OptunaCallback, study: Callable[[], Study | None]) -> None:
        self._callback = callback
        self._study = study
        self.name = getattr(callback, "__qualname__", type(callback).__qualname__)

    def trial(self, trial: TrialRecord) -> None:
        """Call the function."""
        if (study := self._study()) is not None and trial.frozen is not None:
            self._callback(study, trial.frozen)
