"""Permission to work on a trial: a search alone on a study always has it; several workers divide the trials.

Workers know each other only through the study. There is no lock, because not every storage has one, and a killed worker
would never release it. Instead a worker *announces* what it is about to do, then *checks* whether another one has
announced the same, and only then *does* it: of two that announce before they check, at least one sees the other.
Heartbeats, read by the reader's own clock, show who is at work. The full argument, and what may still happen, is in
docs/architecture.md, "Coordination of workers"; `tests/search/test_interleavings.py` goes through every order.

Optuna's own heartbeats need a relational storage and its clock, and a trial whose worker was killed before its first
beat stays RUNNING forever (seen on SQLite and on PostgreSQL).
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import optuna
from optuna.trial import TrialState
from psopt.errors import InputError
from psopt.search.distributed._storage import OUTAGES, reason_of
from psopt.search.distributed._stored_study import BEAT, CLAIMED, FAILED, PROMPT_ID, ROUND_LEASE

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from contextlib import AbstractContextManager

    from psopt.search.distributed._stored_study import StoredStudy

TOTAL_REACHED = "the total of trials is reached"


class Coordinator:
    """Decides who may take which trial: alone on a study, everything is allowed at once, with nothing to announce."""

    worker = ""  # this worker's name, unlike any other's; empty where there is only one

    def __init__(self, study: StoredStudy) -> None:
        self._study = study

    def recover(self) -> None:
        """Before the first step, fail the trials that an earlier process has left running, and queue them again."""
        for trial in self._study.trials_in(TrialState.RUNNING):
            self._study.tell(trial.number, state=TrialState.FAIL)
            if trial.params:
                self._study.enqueue_trial(trial.params)

    def owns(self, number: int) -> bool:  # noqa: ARG002
        """Whether a trial that the study has just handed out belongs to this worker."""
        return True

    def claim(self, number: int, prompt_id: str) -> str | None:  # noqa: ARG002
        """Claim a prompt for a trial; if it must not be evaluated, return why."""
        return None

    def heartbeat(self, number: int) -> AbstractContextManager[object]:  # noqa: ARG002
        """Show the others, during the block, that a trial is being worked on."""
        return contextlib.nullcontext()

    def proposing(self, round_number: int) -> AbstractContextManager[bool]:  # noqa: ARG002
        """Lease a round for the block; yields False if another worker is proposing its edits."""
        return contextlib.nullcontext(True)

    def is_busy(self) -> bool:
        """Whether another worker has a trial running, while this one has none."""
        return False

    def wait(self) -> bool:
        """Wait for the others for a moment; return whether one of them had died and its trial is queued again."""
        return False


# Longer than two simultaneous writes take: with four processes, all the writes of a trial took 106 ms together on
# SQLite and 60 ms on PostgreSQL. The pause avoids duplicate work, and nothing depends on it.
_PAUSE = 0.2
_LONGEST_WAIT = 1.0  # an idle worker checks again every second


class SharedCoordinator(Coordinator):
    """Coordinates one worker with the others of a study; `tell` is called when its heartbeat does not get through."""

    def __init__(self, study: StoredStudy, worker: str, total: int, tell: Callable[[str], None]) -> None:
        super().__init__(study)
        self.worker = worker
        self._total = total
        self._tell = tell
        self._since: dict[Hashable, tuple[Any, float]] = {}  # by heartbeat: its value, and since when

    def recover(self) -> None:
        """Leave this to `wait`: running trials may be another worker's."""

    def heartbeat(self, number: int) -> AbstractContextManager[None]:
        return self._heartbeat(lambda beat: self._study.set_hidden_trial_attr(number, BEAT, [self.worker, beat]))

    def owns(self, number: int) -> bool:
        """Whether a trial belongs to this worker: SQLite may hand a queued one to two workers at the same time."""
        try:
            self._study.set_hidden_trial_attr(number, BEAT, [self.worker, -1])
        except optuna.exceptions.UpdateFinishedTrialError:
            return False
        time.sleep(_PAUSE)
        trial = self._study.read_trial(number)
        return bool(trial.system_attrs[BEAT][0] == self.worker and not trial.state.is_finished())

    def claim(self, number: int, prompt_id: str) -> str | None:
        self._study.set_trial_attr(number, PROMPT_ID, prompt_id)
        while True:
            running = [trial for trial in self._study.trials_in(TrialState.RUNNING) if trial.number != number]
            # Read after those that run: trials never go back, so none slips through in between
            complete = self._study.trials_in(TrialState.COMPLETE)
            if any(trial.user_attrs.get(PROMPT_ID) == prompt_id for trial in complete):
                return "another worker has evaluated it"
            if len(complete) + sum(trial.number < number for trial in running) >= self._total:
                return TOTAL_REACHED
            twins = [trial for trial in running if trial.user_attrs.get(PROMPT_ID) == prompt_id]
            if any(twin.number < number or twin.user_attrs.get(CLAIMED) for twin in twins):
                return "another worker evaluates it"
            if not twins:
                self._study.set_trial_attr(number, CLAIMED, self.worker)
                return None
            self._take_over()  # the twin may be a dead worker's
            time.sleep(_PAUSE)

    @contextlib.contextmanager
    def proposing(self, round_number: int) -> Iterator[bool]:
        key = f"{ROUND_LEASE}:{round_number}"
        lease: list[Any] | None = self._study.user_attrs.get(key)
        is_taken = lease is not None and lease[0] != self.worker
        if is_taken and not self._is_stale(("round", round_number), lease):
            yield False
            return
        self._study.set_user_attr(key, [self.worker, -1])
        time.sleep(_PAUSE)
        if self._study.user_attrs[key][0] != self.worker:
            yield False
            return
        with self._heartbeat(lambda beat: self._study.set_user_attr(key, [self.worker, beat])):
            yield True

    def is_busy(self) -> bool:
        return bool(self._study.trials_in(TrialState.RUNNING))

    def wait(self) -> bool:
        has_queued = self._take_over()
        time.sleep(min(_LONGEST_WAIT, interval()))
        return has_queued

    def _take_over(self) -> bool:
        """Fail the trials of workers that have died, and queue them again."""
        has_queued = False
        for trial in self._study.trials_in(TrialState.RUNNING):
            if not self._is_stale(("trial", trial.number), trial.system_attrs.get(BEAT)):
                continue
            with contextlib.suppress(optuna.exceptions.UpdateFinishedTrialError):
                self._study.set_trial_attr(trial.number, FAILED, "its worker has died; it is queued again")
                self._study.fail_trial(trial.number)
                self._study.queue_again(trial.number)
                has_queued = True
        return has_queued

    def _is_stale(self, name: Hashable, value: Any) -> bool:
        """Whether a heartbeat's value has stayed the same for six beats since it was first seen."""
        now = time.monotonic()
        before, since = self._since.setdefault(name, (value, now))
        if before != value:
            self._since[name] = (value, now)
            return False
        return now - since > _BEATS_MISSED * interval()

    def _heartbeat(self, beat: Callable[[int], None]) -> AbstractContextManager[None]:
        def beat_once(number: int) -> None:
            with self._study.retry_policy.suspended():  # a beat that comes minutes late is useless
                beat(number)

        return beating(beat_once, self._tell)


# Six beats of ten seconds: a minute of silence. A worker that is taken for dead too early costs a duplicate evaluation,
# one too late costs an idle minute.
_BEATS_MISSED = 6


def interval() -> float:
    """Seconds between two heartbeats: 10, or `PSOPT_HEARTBEAT`, which must be a number above 0."""
    text = os.environ.get("PSOPT_HEARTBEAT", "10")
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(f"PSOPT_HEARTBEAT is {text!r}: set it to a number of seconds above 0, or not at all")
    return seconds


@contextlib.contextmanager
def beating(beat: Callable[[int], None], tell: Callable[[str], None]) -> Iterator[None]:
    """Call `beat` with 0, 1, 2 .. in another thread, while the block runs.

    A beat that the storage refuses is skipped; after six in a row `tell` is called, once, with what may follow from
    that. A beat that fails for another reason is a bug: it is reported at once, and raised at the end of the block.
    """
    seconds, over = interval(), threading.Event()
    bugs: list[Exception] = []

    def run() -> None:
        number = missed = 0
        while not over.wait(seconds):
            try:
                beat(number)
                missed = 0
            except optuna.exceptions.UpdateFinishedTrialError:
                return  # others have finished the trial: the next write to it will show that
            except OUTAGES as error:
                missed += 1
                if missed == _BEATS_MISSED:
                    tell(
                        f"no heartbeat got through for {missed * seconds:g} s ({reason_of(error)}): "
                        "other workers may take this one for dead, and its work over"
                    )
            except Exception as error:  # noqa: BLE001  # passed to the working thread, which raises it
                bugs.append(error)
                tell(f"the heartbeat failed: {type(error).__name__}: {error}")
                return
            number += 1

    thread = threading.Thread(target=run, name="psopt-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if bugs:
        raise bugs[0]
