"""Ctrl-C and SIGTERM wait for the statement that is being made to a storage.

An interrupt inside a database library may be lost: Python ignores what is raised in the callback of a weak reference,
of which SQLAlchemy has many, and the run would go on. Or it leaves a cursor behind that keeps the file locked, so that
what was found can't be saved.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object]

_LONGEST_HELD = 1.5  # seconds; a statement takes milliseconds, and one that hangs must not keep the process


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Deliver SIGINT and SIGTERM after the block; at once where a second one comes, or the block takes too long."""
    if threading.current_thread() is not threading.main_thread():  # Python delivers signals to the main thread alone
        yield
        return
    handlers = _handlers()
    held: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        held.append(number)
        if len(held) > 1:
            held.clear()
            handlers[number](number, frame)
            return
        impatient = threading.Timer(_LONGEST_HELD, _send_again, [number, held])
        impatient.daemon = True
        impatient.start()

    for number in handlers:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in held.copy():
            held.clear()
            handlers[number](number, None)


def _handlers() -> dict[int, Handler]:
    """Return what is called on a signal; what is ignored, or ends the process without Python, stays as it is."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    return {number: handler for number, handler in handlers.items() if callable(handler)}


def _send_again(number: int, held: list[int]) -> None:
    """Send a signal that is still held, from a thread beside; it is the second one then."""
    if not held:
        return
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)  # also ends a wait for a socket
    else:
        import _thread

        _thread.interrupt_main(signal.Signals(number))
