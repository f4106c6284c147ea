"""Answers kept on disk, so that no run pays for the same answer twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
from typing import TYPE_CHECKING, Any

import platformdirs
from psopt.errors import InputError
from psopt.text import as_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

FILE = "answers.db"
CACHE_FILES = (FILE, f"{FILE}-wal", f"{FILE}-shm")  # the last two while it is open, or after a kill
_IN_ONE_QUERY = 500  # before 3.32 SQLite took at most 999 parameters (sqlite.org/limits.html)


class AnswerCache:
    """JSON values by key, in a SQLite file (WAL) that several processes and threads share; in memory without a folder.

    Once `put` has returned, a value survives a kill of the process. An answer may have cost money, so a file that can't
    be used is an error: InputError.
    """

    def __init__(self, folder: Path | None, file: str = FILE) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        with self._explained():
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            path = folder / file if folder else ":memory:"
            self._connection = sqlite3.connect(path, timeout=60, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode=WAL")
            # With WAL, killing the process loses nothing; a power failure may lose the last answers, never the file.
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
            )

    def get(self, key: bytes) -> Any:
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Return the values of those keys that have one."""
        distinct = list(dict.fromkeys(keys))
        values = {}
        for start in range(0, len(distinct), _IN_ONE_QUERY):
            part = distinct[start : start + _IN_ONE_QUERY]
            query = f"SELECT key, value FROM answers WHERE key IN ({','.join('?' * len(part))})"  # noqa: S608
            with self._lock, self._explained():
                rows = self._connection.execute(query, part).fetchall()
            values.update({key: json.loads(value) for key, value in rows})
        return values

    def put(self, key: bytes, value: Any) -> None:
        """Keep a value; one that is already kept is not replaced."""
        self.put_many({key: value})

    def put_many(self, values: Mapping[bytes, Any]) -> None:
        """Keep these values, all or none."""
        # ASCII, since UTF-8 can't hold half a surrogate pair, which models sometimes write
        rows = [(key, json.dumps(value)) for key, value in values.items()]
        with self._lock, self._explained(), self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", rows)

    def forget(self, keys: Iterable[bytes]) -> None:
        with self._lock, self._explained(), self._connection:
            self._connection.executemany("DELETE FROM answers WHERE key = ?", [(key,) for key in keys])

    def close(self) -> None:
        self._connection.close()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            where = f" in {self.folder}" if self.folder else ""
            raise InputError(f"the answer cache{where} can't be used: {error}; choose another --cache-dir") from error


def answer_key(**parts: Any) -> bytes:
    """Return the key of an answer, from everything that determines it: named parts, as JSON data."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).digest()


def cache_folder(cache_dir: str | Path | None = None) -> Path:
    """Return `cache_dir`, else `$PSOPT_CACHE_DIR`, else the user's cache folder for psopt."""
    default = os.environ.get("PSOPT_CACHE_DIR") or platformdirs.user_cache_path("psopt")
    return as_path(cache_dir or default, "cache_dir")
