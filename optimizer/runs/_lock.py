"""One process at a time in a folder, by a lock of the operating system: a process that dies lets it go."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from psopt.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

LOCK = ".lock"
# Windows locks ranges of bytes, and nobody else can read them: one far behind what the file says.
_LOCKED_BYTE = 1 << 20

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FolderLock:
    """Holds a folder; the file in it says who does, and goes with the lock.

    Where the file system knows no locks, nothing is held, and nobody refused.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._descriptor = -1

    @property
    def is_held(self) -> bool:
        """Whether this process holds the folder."""
        return self._descriptor >= 0

    def acquire(self) -> None:
        """Take the lock.

        Raises InputError if another process has it (said: which), or the folder can't be written.
        """
        while not self._try_to_acquire():
            pass  # whoever had the lock has taken its file away with it

    def _try_to_acquire(self) -> bool:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(f"{self._path.parent} can't be written: {error.strerror}") from error
        try:
            _take(descriptor)
        except BlockingIOError:
            holder = os.read(descriptor, 1000)
            os.close(descriptor)
            raise InputError(f"{self._path.parent} is in use: {_said(holder)}; wait for it, or end it") from None
        except OSError:  # such as ENOLCK, ENOTSUP: some network file systems
            os.close(descriptor)
            return True
        if not self._is_in_place(descriptor):
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        holder = json.dumps(
            {"pid": os.getpid(), "host": socket.gethostname(), "since": datetime.now(UTC).isoformat(" ", "seconds")}
        ).encode()
        os.ftruncate(descriptor, 0)
        os.write(descriptor, holder)
        return True

    def _is_in_place(self, descriptor: int) -> bool:
        """Whether the file that is locked is the one that others find."""
        try:
            return os.path.samestat(os.fstat(descriptor), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Give the lock back and take its file away, if it is held."""
        if not self.is_held:
            return
        with contextlib.suppress(OSError):  # Windows does not delete what is open; the lock counts, not the file
            self._path.unlink()
        os.close(self._descriptor)
        self._descriptor = -1


def _said(content: bytes) -> str:
    """Who holds the lock, by what the file says."""
    try:
        holder = json.loads(content)
        return f"process {holder['pid']} on {holder['host']} works on it since {holder['since']}"
    except (ValueError, KeyError, TypeError):  # it has just been taken
        return "another process has just begun to work on it"
