"""A guard for what is under test, in a process of its own or in this one.

It refuses connections to any other address than the one named, and notes them.
"""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_GUARD = """
import os, socket
_allowed, _file = int(os.environ["GUARD_PORT"]), os.environ["GUARD_FILE"]

def _check(address):
    if isinstance(address, tuple) and address[:2] != ("127.0.0.1", _allowed):
        with open(_file, "a") as file:
            file.write(f"{address[0]}:{address[1]}\\n")
        raise ConnectionRefusedError(f"the guard lets nobody through to {address[0]}")

def _guarded(name):
    method = getattr(socket.socket, name)
    def connect(self, address):
        _check(address)
        return method(self, address)
    return connect

def _resolve(host, port, *rest, _resolve=socket.getaddrinfo, **more):
    if host not in ("127.0.0.1", None):
        _check((str(host), port))
    return _resolve(host, port, *rest, **more)

for _name in ("connect", "connect_ex"):
    setattr(socket.socket, _name, _guarded(_name))
socket.getaddrinfo = _resolve
"""


class Guard:
    """Makes the environment of a guarded process, and tells what it tried to reach."""

    def __init__(self, folder: Path, port: int) -> None:
        place = folder / "guard"
        place.mkdir(exist_ok=True)
        (place / "sitecustomize.py").write_text(_GUARD)
        self._file = place / "tried.txt"
        path = os.pathsep.join([str(place), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.environment = {"PYTHONPATH": path, "GUARD_PORT": str(port), "GUARD_FILE": str(self._file)}

    @contextlib.contextmanager
    def in_this_process(self) -> Iterator[None]:
        """Guard this process for a while."""
        with pytest.MonkeyPatch.context() as patch:
            for owner, name in ((socket.socket, "connect"), (socket.socket, "connect_ex"), (socket, "getaddrinfo")):
                patch.setattr(owner, name, getattr(owner, name))  # which puts it back at the end
            for name in ("GUARD_PORT", "GUARD_FILE"):
                patch.setenv(name, self.environment[name])
            exec(_GUARD, {})  # the same guard, whichever process it is in
            yield

    @property
    def tried(self) -> list[str]:
        """Addresses that were tried and not allowed."""
        return self._file.read_text().splitlines() if self._file.exists() else []
