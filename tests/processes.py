"""Processes of `psopt`, and of the fake server, that begin at once: forked from one that has imported everything.

For what is about processes: signals, kills, many workers. A few tests begin theirs as a shell does, from the first
import on, for that must go well too; and so do those whose packages read the environment when they are imported.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

# What a run imports on its way, beside psopt's own modules; dspy and torch are left to those who ask for them.
IMPORTED = (
    "aiohttp",
    "alembic.command",
    "optuna.storages._rdb.storage",
    "plotly.graph_objects",
    "plotly.io",
    "plotly.subplots",
    "psycopg",
    "sklearn.feature_extraction.text",
    "sklearn.model_selection",
    "sklearn.naive_bayes",
)
SERVER = "tests.fake_server.__main__"
LEFT_OUT = ("psopt.__main__", "psopt.dspy_programs", "psopt.testing._pytest_plugin")
_MOST = 1 << 20  # bytes of a request
_ONE_AT_A_TIME = threading.Lock()


class Process:
    """A running `psopt`, with as much of `subprocess.Popen` as tests need."""

    def __init__(self, words: Any, *, cwd: Path, env: Mapping[str, str], program: str = "psopt") -> None:
        pipes = [os.pipe() for _ in range(3)]
        given, self._stdin = os.pipe()  # which nobody writes to, and which ends with whoever made this
        request: dict[str, Any] = {"words": [*map(str, words)], "cwd": str(cwd), "env": dict(env), "program": program}
        streams = [given, *(write for _, write in pipes)]
        with _ONE_AT_A_TIME:
            channel = _forker()
            socket.send_fds(channel, [json.dumps(request).encode()], streams)
            self.pid = int(channel.recv(64))
        for stream in streams:
            os.close(stream)
        self.args = request["words"]
        self.returncode: int | None = None
        (out, _), (err, _), (self._ending, _) = pipes
        self.stdout = os.fdopen(out, encoding="utf-8")
        self.stderr = os.fdopen(err, encoding="utf-8")

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended."""
        if self.returncode is None:
            ready, _, _ = select.select([self._ending], [], [], timeout)
            if not ready:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = int(os.read(self._ending, 64))
            os.close(self._ending)
            os.close(self._stdin)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait until it has ended, and return what it still said on standard output and standard error."""
        end = None if timeout is None else time.monotonic() + timeout
        with ThreadPoolExecutor(2) as threads:
            streams = [threads.submit(_rest, stream) for stream in (self.stdout, self.stderr)]
            try:
                out, err = (stream.result(end and end - time.monotonic()) for stream in streams)
            except TimeoutError as error:
                self.kill()  # else nobody would ever close the streams that are waited for
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from error
        self.wait(end and max(0.0, end - time.monotonic()))
        return out, err


def _rest(stream: Any) -> str:
    return "" if stream.closed else str(stream.read())


@functools.cache
def _forker() -> socket.socket:
    """The connection to the process that forks; it ends with this one."""
    here, there = socket.socketpair()
    words = [sys.executable, "-P", __file__, str(there.fileno())]
    subprocess.Popen(words, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL, start_new_session=True)
    there.close()
    return here


def _import_everything() -> None:
    import psopt

    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    names = [found.name for found in pkgutil.walk_packages(psopt.__path__, "psopt.", onerror=lambda _: None)]
    for name in (*names, *IMPORTED, SERVER):
        if not name.startswith(LEFT_OUT):
            with contextlib.suppress(ImportError):  # an extra that is not installed
                importlib.import_module(name)


def _serve(channel: socket.socket) -> None:
    """Fork for each request, and tell each asker how its process ended; in the child, become `psopt`."""
    endings: dict[int, int] = {}

    def bury(*_: Any) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                ending = endings.pop(ended[0])
                with contextlib.suppress(BrokenPipeError):
                    os.write(ending, str(os.waitstatus_to_exitcode(ended[1])).encode())
                os.close(ending)

    signal.signal(signal.SIGCHLD, bury)
    while True:
        message, streams, _, _ = socket.recv_fds(channel, _MOST, 4)
        if not message:
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        child = os.fork()
        if not child:
            _become(json.loads(message), streams, [channel.fileno(), *endings.values()])
        endings[child] = streams.pop()
        for stream in streams:
            os.close(stream)
        channel.send(str(child).encode())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _become(request: Any, streams: list[int], others: list[int]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    for stream, number in zip(streams, (0, 1, 2), strict=False):
        if number or request["program"] == SERVER:  # psopt finds nothing on standard input, and its end
            os.dup2(stream, number)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", encoding="utf-8")  # the forker's may be a terminal's or a file's
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    for number in (*streams, *others):
        os.close(number)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = [request["program"], *request["words"]]
    importlib.import_module("psopt.cli" if request["program"] == "psopt" else request["program"]).main()


if __name__ == "__main__":
    _import_everything()
    _serve(socket.socket(fileno=int(sys.argv[1])))
