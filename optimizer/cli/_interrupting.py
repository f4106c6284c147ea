"""Ctrl-C and SIGTERM: results so far are saved, and the process ends soon, whatever it waits for."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

INTERRUPTED = 130  # 128 + SIGINT, as in shells
_LONGEST_SAVING = 8.0  # seconds; SIGTERM is often followed by SIGKILL after ten
_signals: list[int] = []
_watchdogs: list[threading.Timer] = []


@contextlib.contextmanager
def signals_caught() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C within the block; if SIGINT is ignored, as in the background of a script, it stays so.

    The handlers are given back after it: a program that has run a command keeps running.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in before.items():
        if number == signal.SIGTERM or handler is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for watchdog in _watchdogs:
            watchdog.cancel()
        _watchdogs.clear()
        _signals.clear()


def leave(code: int) -> NoReturn:
    """Exit; after a signal or an error do not wait for threads, which may wait for a server that hangs."""
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]
    if code and others:
        _leave_at_once(code)
    sys.exit(code)


def _interrupt(number: int, _: object) -> None:
    """Stop the current work; a second signal arrives while results are saved, and a third takes effect at once."""
    _signals.append(number)
    if len(_signals) > 2:
        _leave_at_once(INTERRUPTED)
    if len(_signals) == 1:
        watchdog = threading.Timer(_LONGEST_SAVING, _leave_at_once, [INTERRUPTED])
        watchdog.daemon = True
        _watchdogs.append(watchdog)
        watchdog.start()
        raise KeyboardInterrupt


def _leave_at_once(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)
