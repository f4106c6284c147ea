"""Embeddings kept on disk, so that a text is encoded once and not once a run."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_IN_ONE_QUERY = 500  # SQLite took 999 parameters at most until 3.32 (sqlite.org/limits.html)


class EmbeddingStore:
    """float16 vectors by text, in a SQLite file that several processes may share.

    A file that can't be written (read-only folder, full disk) or is damaged is done without: embeddings can be made
    again, so a cache is no reason to stop.
    """

    def __init__(self, path: Path | None) -> None:
        self._connection: sqlite3.Connection | None = None
        if path is None:
            return
        with contextlib.suppress(OSError, sqlite3.Error):
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, timeout=30)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS embeddings (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
            )
            self._connection = connection

    def get(self, texts: Sequence[str]) -> dict[str, NDArray[np.float16]]:
        """Return the vectors of those texts that are kept."""
        if self._connection is None:
            return {}
        vectors: dict[str, NDArray[np.float16]] = {}
        by_key = {_key(text): text for text in texts}
        keys = list(by_key)
        with contextlib.suppress(sqlite3.Error):
            for start in range(0, len(keys), _IN_ONE_QUERY):
                part = keys[start : start + _IN_ONE_QUERY]
                marks = ",".join("?" * len(part))
                query = f"SELECT text, vector FROM embeddings WHERE text IN ({marks})"  # noqa: S608  # marks are "?,?"
                for key, vector in self._connection.execute(query, part):
                    vectors[by_key[key]] = np.frombuffer(vector, dtype=np.float16)
        return vectors

    def put(self, vectors: Mapping[str, NDArray[np.float16]]) -> None:
        """Keep these vectors."""
        if self._connection is None:
            return
        rows = [(_key(text), vector.tobytes()) for text, vector in vectors.items()]
        with contextlib.suppress(sqlite3.Error), self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?)", rows)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
