"""Answers kept on disk: one that was paid for is not paid for again, by any run."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FILE = "answers.db"
_IN_ONE_QUERY = 500  # SQLite took 999 parameters at most until 3.32 (sqlite.org/limits.html)


class AnswerCache:
    """JSON values by key, in a SQLite file (WAL) that several processes and threads may share.

    A value is on its way to the disk when `put` returns: it survives a kill of the process. Unlike an embedding, an
    answer may have cost money, so a file that can't be used is an error and not done without.

    The file is in `folder`, or is made there; None keeps answers in memory only. Raises InputError if it can't be
    opened or is no cache.
    """

    def __init__(self, folder: Path | None, file: str = FILE) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        with self._explained():
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)
            path = ":memory:" if folder is None else str(folder / file)
            self._connection = sqlite3.connect(path, timeout=60, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode=WAL")
            # With WAL a kill of the process loses nothing; a loss of power may lose the last answers, never the file.
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
            )

    def get(self, key: bytes) -> Any:
        return self.get_many([key]).get(key)

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """Return the values of those keys that are kept."""
        distinct = list(dict.fromkeys(keys))
        values = {}
        for start in range(0, len(distinct), _IN_ONE_QUERY):
            part = distinct[start : start + _IN_ONE_QUERY]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, value FROM answers WHERE key IN ({marks})"  # noqa: S608  # marks are "?,?"
            with self._lock, self._explained():
                rows = self._connection.execute(query, part).fetchall()
            values.update({key: json.loads(value) for key, value in rows})
        return values

    def put(self, key: bytes, value: Any) -> None:
        """Keep a value; one that is kept already stays as it is."""
        self.put_many({key: value})

    def put_many(self, values: Mapping[bytes, Any]) -> None:
        """Keep these values, all or none."""
        # ASCII, since UTF-8 can't hold half a surrogate pair, which models write now and then
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
    """Return the key of an answer: everything that decides it, by name, as JSON data."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).digest()


def cache_folder(cache_dir: str | Path | None = None) -> Path:
    """Return `cache_dir`, else `$PSOPT_CACHE_DIR`, else the user's cache folder for psopt."""
    folder = cache_dir or os.environ.get("PSOPT_CACHE_DIR")
    return Path(folder) if folder else platformdirs.user_cache_path("psopt")
