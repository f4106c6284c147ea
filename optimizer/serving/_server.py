"""The process of `psopt serve`: it listens, and at SIGTERM answers all accepted requests before it ends."""

from __future__ import annotations

import contextlib
import signal
import socket
from typing import TYPE_CHECKING

import uvicorn
from psopt.errors import InputError
from psopt.serving._app import chat_app
from psopt.serving._queue import TextQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psopt.api import Classifier

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_BACKLOG = 2048  # connections that the system queues while others are answered


class _Server(uvicorn.Server):
    """Ends at a signal with exit code 0: being told to stop is not an error."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    classifier: Classifier,
    *,
    host: str,
    port: int,
    n_threads: int,
    most_waiting: int,
    passes_keys: bool,
    on_ready: Callable[[str], None],
) -> None:
    """Answer requests until SIGINT or SIGTERM; accepted ones are answered first.

    Raises InputError if it can't listen at the address.
    """
    listening = _listen(host, port)
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    queue = TextQueue(classifier, n_threads, most_waiting)
    app = chat_app(queue, f"psopt/{classifier.prompt.id}", classifier.text_of, passes_keys=passes_keys)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", proxy_headers=False, backlog=_BACKLOG
    )
    on_ready(address)
    try:
        _Server(config).run([listening])
    finally:
        queue.close()
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"--host {host} --port {port}: {reason}; give another --port, or 0 for a free one") from error
    listening.listen(_BACKLOG)
    return listening
