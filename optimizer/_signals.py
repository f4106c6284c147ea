"""Signals that another thread sends to the main one."""

from __future__ import annotations

import signal
import threading


def send_to_main_thread(number: int) -> None:
    """Send a signal to the main thread, where Python handles it; it also interrupts waiting for a socket."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        import _thread

        _thread.interrupt_main(signal.Signals(number))
