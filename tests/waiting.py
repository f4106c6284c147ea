"""Waiting for other processes: files and databases tell nobody when they change, so they are looked at again."""

from __future__ import annotations

import subprocess
import threading
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.processes import Process

    Running = Process | subprocess.Popen[str]

T = TypeVar("T")
_TICK = 0.02
_HANGS = 240.0  # seconds after which a test has failed; a process takes a minute to begin where ten others compute


def wait_until(condition: Callable[[], T], *, process: Running | None = None, seconds: float = _HANGS) -> T:
    """Return what `condition` gives once that is true; the process that should bring it about must not have ended."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end, "it did not come about in time"
        threading.Event().wait(_TICK)
    return value


def let_run(process: Running, seconds: float) -> None:
    """Let a process run for a while, or until it ends."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return
