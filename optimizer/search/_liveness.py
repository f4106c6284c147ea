"""Who is at work: heartbeats, and how others tell that one has stopped.

A worker changes a value in the storage every few seconds while it has something in hand. Whoever sees the value stand
still for long enough, by a clock of its own, takes the worker for dead: clocks of different machines need not agree,
and any storage will do.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

_BEATS_MISSED = 6


def interval() -> float:
    """Seconds between two heartbeats: 10, or `PSOPT_HEARTBEAT`."""
    return float(os.environ.get("PSOPT_HEARTBEAT", "10"))


class Heartbeat:
    """Calls `beat` with 0, 1, 2 .. while the block runs; a beat that fails is left out."""

    def __init__(self, beat: Callable[[int], None]) -> None:
        self._beat, self._stop = beat, threading.Event()
        self._thread = threading.Thread(target=self._run, name="psopt-heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stop.wait(interval()):
            with contextlib.suppress(Exception):  # the storage is away for a moment: the work itself will tell
                self._beat(number)
            number += 1


class Watch:
    """Tells which of the values that it is shown stand still."""

    def __init__(self) -> None:
        self._since: dict[Hashable, tuple[Any, float]] = {}

    def is_still(self, name: Hashable, value: Any) -> bool:
        """Whether a value has not changed over six heartbeats since it was first seen."""
        now = time.monotonic()
        before, since = self._since.setdefault(name, (value, now))
        if before != value:
            self._since[name] = (value, now)
            return False
        return now - since > _BEATS_MISSED * interval()
