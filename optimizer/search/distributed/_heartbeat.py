"""Heartbeats: who is at work, and how others tell that one has stopped.

A worker changes a value in the storage every few seconds while it has something in hand. Whoever sees the value
unchanged for long enough, by a clock of its own, takes the worker for dead: clocks of different machines need not
agree, and any storage will do. Optuna's own heartbeats do neither: they need a relational storage and its clock, and a
trial whose worker was killed before its first beat stays RUNNING for good (seen on SQLite and on PostgreSQL).
"""

from __future__ import annotations

import math
import os
import threading
import time
from typing import TYPE_CHECKING, Any, Self

import optuna
from psopt.errors import InputError
from psopt.search.distributed._retrying import OUTAGES, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

# Six beats of ten seconds: a minute without a word. One that is taken for dead too early costs an evaluation that is
# done twice, one too late an idle minute.
_BEATS_MISSED = 6


def interval() -> float:
    """Seconds between two heartbeats: 10, or `PSOPT_HEARTBEAT`.

    Raises InputError if that is no number above 0.
    """
    text = os.environ.get("PSOPT_HEARTBEAT", "10")
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InputError(f"PSOPT_HEARTBEAT is {text!r}: set it to a number of seconds above 0, or not at all")
    return seconds


class Heartbeat:
    """Calls `beat` with 0, 1, 2 .. while the block runs.

    A beat that the storage refuses is left out, and after six of them `tell` is told, once, what that may lead to. A
    beat that fails otherwise is a bug: it is told at once, and raised at the end of the block.
    """

    def __init__(self, beat: Callable[[int], None], tell: Callable[[str], None]) -> None:
        self._beat = beat
        self._tell = tell
        self._stop = threading.Event()
        self._interval = interval()
        self._missed = 0
        self._bug: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="psopt-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if self._bug is not None and kind is None:
            raise self._bug

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(self._interval):
            try:
                self._beat(number)
                self._missed = 0
            except optuna.exceptions.UpdateFinishedTrialError:
                return  # others have finished the trial: whoever writes to it next learns that
            except OUTAGES as error:
                self._miss(error)
            except Exception as error:  # noqa: BLE001  # handed to the thread that has the work, which raises it
                self._bug = error
                self._tell(f"the heartbeat failed: {type(error).__name__}: {error}")
                return
            number += 1

    def _miss(self, error: BaseException) -> None:
        self._missed += 1
        if self._missed == _BEATS_MISSED:
            self._tell(
                f"no heartbeat got through for {self._missed * self._interval:g} s ({reason_of(error)}): "
                "other workers may take this one for dead, and its work over"
            )


class StaleWatch:
    """Tells which of the heartbeats that it is shown have stopped."""

    def __init__(self) -> None:
        self._since: dict[Hashable, tuple[Any, float]] = {}

    def is_stale(self, name: Hashable, value: Any) -> bool:
        """Whether a value has not changed over six heartbeats since it was first seen."""
        now = time.monotonic()
        before, since = self._since.setdefault(name, (value, now))
        if before != value:
            self._since[name] = (value, now)
            return False
        return now - since > _BEATS_MISSED * interval()
