"""From the user's names to trackers that watch a run, as the screen does; none of them can harm the run."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from optuna.trial import TrialState
from psopt.errors import BudgetReachedError, InputError, PsoptError, UnknownNameError, import_own
from psopt.runs import TRACKING, RunDirectory
from psopt.search import Observer
from psopt.search.distributed import PROMPT_ID
from psopt.text import one_line
from psopt.tracking._base import CallbackTracker, OptunaCallback, RunRecord, Tracker, TrialRecord
from psopt.tracking._mlflow import MLflowTracker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import optuna
    from psopt.models.chat import Budget, CallEnd, CallStart, OnCallEnd
    from psopt.search import Candidate
    from psopt.search.racing import StoppedCandidate
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task
    from psopt.tracking._base import Ending


Callback = str | Tracker | OptunaCallback
"""A callback for `psopt.optimize`: a tracker by name, a tracker, or a function in Optuna's form."""

OFF = "off"  # instead of names: no tracker
_MLFLOW = "mlflow"
_RECIPES = {"wandb": "wandb_tracker:WandbTracker", "otel": "otel_tracker:OTelTracker"}
_LONGEST_REASON = 300  # characters of a tracker's error
LOGGER = logging.getLogger("psopt.tracking")


def tracker_names(asked: Iterable[str]) -> tuple[str, ...]:
    """Read ``--log``: names separated by commas; ``off`` for none.

    >>> tracker_names(["mlflow:tickets,my_trackers:Screen"])
    ('mlflow:tickets', 'my_trackers:Screen')

    Raises InputError if there is no such tracker, or one is named twice.
    """
    names = [name.strip() for part in asked for name in part.split(",")]
    if names == [OFF]:
        return ()
    kinds = []
    for name in names:
        kind, colon, place = name.partition(":")
        if kind in _RECIPES:
            recipe = _RECIPES[kind]
            raise InputError(f"tracker {name}: copy psopt's examples/trackers/{kind}_tracker.py, and name {recipe}")
        if kind == _MLFLOW and colon and not place:
            raise InputError(f"tracker {name}: an experiment follows mlflow:")
        if kind != _MLFLOW and not colon:
            raise UnknownNameError("tracker", kind, (_MLFLOW, "MODULE:NAME", OFF))
        kinds.append(kind if kind == _MLFLOW else name)
    if len(set(kinds)) < len(kinds):
        raise InputError(f"trackers {','.join(names)}: each is named once")
    return tuple(names)


def listed(callbacks: Any) -> list[Any]:
    """The callbacks; one that was given without a list is taken too."""
    is_one = isinstance(callbacks, (str, Tracker)) or callable(callbacks) or not isinstance(callbacks, Iterable)
    return [callbacks] if is_one else list(callbacks)


def split_callbacks(callbacks: Iterable[Callback]) -> tuple[tuple[str, ...], tuple[Tracker | OptunaCallback, ...]]:
    """Separate names, which a run keeps for resuming, from objects; raises InputError for an unknown name or object."""
    callbacks = listed(callbacks)
    others = [callback for callback in callbacks if not isinstance(callback, str)]
    for callback in others:
        if isinstance(callback, type) and issubclass(callback, Tracker):
            raise InputError(f"callbacks: {callback.__name__} is a class: give a tracker, {callback.__name__}(..)")
        if not (isinstance(callback, Tracker) or callable(callback)):
            raise InputError(f"callbacks: {callback!r} is no tracker, no name of one, and can't be called")
    return tracker_names(callback for callback in callbacks if isinstance(callback, str)), tuple(others)


def _tracker(callback: Callback, study: Callable[[], optuna.Study | None]) -> Tracker:
    """Make the tracker for a name or a function; raises InputError if a name of the user's own names none."""
    if isinstance(callback, Tracker):
        return callback
    if not isinstance(callback, str):
        return CallbackTracker(callback, study)
    kind, _, experiment = callback.partition(":")
    if kind == _MLFLOW:
        return MLflowTracker(experiment)
    own = import_own(callback, "tracker")
    if isinstance(own, type) and issubclass(own, Tracker):
        try:
            own = own()
        except Exception as error:  # whatever its author's code raises
            raise _unusable(callback, error) from error
    if not isinstance(own, Tracker):
        raise InputError(f"tracker {callback} is no psopt.tracking.Tracker, but a {type(own).__name__}")
    return own


def tracked(
    observer: Observer | None, names: Iterable[str], callbacks: Sequence[Tracker | OptunaCallback], budget: Budget
) -> Tracking:
    """Let trackers watch a run and the calls that `budget` pays for; raises PsoptError if one can't do its work."""
    tracking = Tracking(observer or Observer(), (*names, *callbacks))
    for tracker in tracking.trackers:
        try:
            tracker.check()
        except PsoptError:
            raise
        except Exception as error:  # whatever its package raises for the user's settings
            raise _unusable(tracker.name, error) from error
    if any(tracker.call_watcher for tracker in tracking.trackers):
        budget.call_watcher = tracking.watch_call
    return tracking


def _unusable(name: str, error: Exception) -> InputError:
    reason = one_line(f"{type(error).__name__}: {error}")
    return InputError(f"tracker {name} can't be used: {reason}")


class Tracking(Observer):
    """Passes an observer's events on to trackers; a tracker that fails is left out, which is reported once.

    The observer gets every event first. As a context manager it ends the record when the `with` statement ends, with
    the error that ended it.
    """

    def __init__(self, observer: Observer, callbacks: Iterable[Callback]) -> None:
        self._observer = observer
        self._to_close = [_tracker(callback, lambda: self.study) for callback in callbacks]
        self.trackers = [*self._to_close]  # those that have not failed
        self._directory: RunDirectory | None = None
        self._record: RunRecord | None = None
        self._kept: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if record := self._record:
            with contextlib.suppress(InputError):  # its last state, where a run without a result was removed
                record = RunRecord.read(record.folder)
            ending = _ending(error)
            self._each(lambda tracker: tracker.end(record, ending))
            self._save()
        for tracker in self._to_close:
            with contextlib.suppress(Exception, SystemExit):  # nothing is left to report
                tracker.close()

    def started(self, task: Task, folder: Path) -> None:
        """Tell the observer; let trackers begin, and tell them about the trials they have missed."""
        self._observer.budget = self.budget
        self._observer.started(task, folder)
        if not self.trackers:
            return
        self._directory = RunDirectory(folder)
        self._record = record = RunRecord.read(folder)
        try:
            self._kept = self._directory.read_json(TRACKING)["trackers"] if (folder / TRACKING).exists() else {}
        except (InputError, TypeError) as error:
            LOGGER.warning("%s can't be read (%s): trackers begin anew", folder / TRACKING, error)
        self._each(lambda tracker: tracker.start(record, self._kept_of(tracker)))
        self._save()
        for tracker in self.trackers:
            if tracker.place:
                self._observer.phase(f"{tracker.name}: {tracker.place}")
        if self.study is not None:
            for trial in self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
                if PROMPT_ID in trial.user_attrs:
                    self._tell(trial.number)

    def phase(self, text: str) -> None:
        self._observer.phase(text)

    def answers(self, done: int, total: int) -> None:
        self._observer.answers(done, total)

    def begin_trial(self, number: int, prompt: Prompt) -> None:
        self._observer.begin_trial(number, prompt)
        self._each(lambda tracker: tracker.begin_trial(number, prompt))

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        self._observer.trial(candidate, n_done, n_total)
        self._tell(candidate.trial)

    def stopped(self, candidate: StoppedCandidate, n_done: int, n_total: int) -> None:
        self._observer.stopped(candidate, n_done, n_total)
        self._tell(candidate.trial)

    def watch_call(self, call: CallStart) -> OnCallEnd:
        """Report a call that is about to be sent; the returned function reports how it ended."""
        ends: list[tuple[Tracker, OnCallEnd]] = []

        def begin(tracker: Tracker) -> None:
            if watcher := tracker.call_watcher:
                ends.append((tracker, watcher(call)))

        def end(outcome: CallEnd) -> None:
            for tracker, tell in ends:
                self._ask(tracker, lambda _, tell=tell: tell(outcome))  # type: ignore[misc]

        self._each(begin)
        return end

    def _each(self, act: Callable[[Tracker], None]) -> None:
        for tracker in list(self.trackers):
            self._ask(tracker, act)

    def _ask(self, tracker: Tracker, act: Callable[[Tracker], None]) -> None:
        """Let a tracker do something; leave it out from then on if that fails."""
        try:
            act(tracker)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever somebody else's package raises: the run goes on
            if tracker in self.trackers:
                self.trackers.remove(tracker)
                reason = one_line(f"{type(error).__name__}: {error}")[:_LONGEST_REASON]
                LOGGER.warning("%s failed and is left out from now on, the run goes on: %s", tracker.name, reason)

    def _tell(self, number: int) -> None:
        """Report a trial to the trackers that don't know about it yet."""
        if not self.trackers or self.study is None:
            return
        trial = TrialRecord.of(self.study.read_trial(number))

        def tell(tracker: Tracker) -> None:
            told = self._kept_of(tracker).setdefault("trials", {})
            if str(trial.number) not in told:
                tracker.trial(trial)
                told[str(trial.number)] = True

        self._each(tell)
        self._save()

    def _kept_of(self, tracker: Tracker) -> dict[str, Any]:
        """What a tracker keeps in the run directory."""
        return self._kept.setdefault(tracker.name, {})

    def _save(self) -> None:
        """Write tracking.json; a full disk, and what a tracker keeps that is no JSON, is reported once."""
        if self._directory is None or not self._directory.has_begun or not self._kept:
            return
        try:
            self._directory.write_json(TRACKING, {"schema_version": 1, "trackers": self._kept})
        except (InputError, TypeError, ValueError, RecursionError) as error:
            LOGGER.warning("what trackers keep: %s: to be resumed, the run will be recorded anew", error)
            self._directory = None


def _ending(error: BaseException | None) -> Ending:
    if error is None or isinstance(error, BudgetReachedError):
        return "finished"
    return "failed" if isinstance(error, Exception) else "killed"
