"""Every storage that a study can lie in, for tests that sweep them."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_until

STORAGES = ("sqlite", "journal", "postgresql")


class Postgres:
    """A PostgreSQL of our own on a free port of the loopback, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not versions:
            pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
        self.bin = versions[-1]
        self.data = folder / "data"
        self.as_user: list[str] = []
        self.n_databases = 0
        if os.geteuid() == 0:
            try:
                pwd.getpwnam("postgres")
            except KeyError:
                pytest.skip("there is no user postgres, and PostgreSQL refuses to run as root")
            self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(folder, "postgres", "postgres")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "psopt", "--no-sync")
        self.start()

    def run(self, program: Any, *words: Any) -> None:
        done = subprocess.run(
            [*self.as_user, self.bin / program, *map(str, words)],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if "start" in words else subprocess.PIPE,  # a server would keep it open
            stderr=subprocess.STDOUT,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout

    def start(self) -> None:
        # What is left of a server that was stopped may still go away.
        wait_until(self._starts, seconds=30)

    def _starts(self) -> bool:
        options = f"-p {self.port} -k '' -h 127.0.0.1 -F"
        with contextlib.suppress(AssertionError):
            self.run("pg_ctl", "-D", self.data, "-w", "-l", self.data / "log", "-o", options, "start")
            return True
        return False

    def stop(self) -> None:
        self.run("pg_ctl", "-D", self.data, "-m", "fast", "stop")

    @property
    def url(self) -> str:
        return self._url("postgres")

    def new_database(self) -> str:
        self.n_databases += 1
        name = f"test{self.n_databases}"
        self.run("createdb", "-h", "127.0.0.1", "-p", self.port, "-U", "psopt", name)
        return self._url(name)

    def _url(self, database: str) -> str:
        return f"postgresql://psopt:secret-word@127.0.0.1:{self.port}/{database}"
