"""What programs answered, kept so that no run of a program is paid twice."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from psopt.models import AnswerCache

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    Record = dict[str, Any]
    """Of a run its ``outcome`` (None if it could not be parsed), ``merit`` and the metric's ``feedback``.

    Of a trace its ``steps``. One that ``failed`` is an answer for this process alone: the next one tries again.
    """


class Records:
    """Records by their key: in memory, and from when the run directory exists also there.

    The first runs are made before there is a directory: one that is refused must leave nothing behind.

    Parameters
    ----------
    folder : path
        The run directory.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._in_memory: dict[bytes, Record] = {}
        self._failed: dict[bytes, Record] = {}
        self._on_disk: AnswerCache | None = None
        self._lock = threading.Lock()

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, Record]:
        """Return the records that are kept."""
        keys = list(keys)
        new = [key for key in keys if key not in self._in_memory]
        if new and (cache := self._cache()) is not None:
            self._in_memory.update(cache.get_many(new))
        kept = {key: self._in_memory.get(key) or self._failed.get(key) for key in keys}
        return {key: record for key, record in kept.items() if record is not None}

    def put(self, key: bytes, record: Record) -> None:
        """Keep a record; threads may do so at once."""
        if record.get("failed"):
            self._failed[key] = record
            return
        self._in_memory[key] = record
        if (cache := self._cache()) is not None:
            cache.put(key, record)

    def _cache(self) -> AnswerCache | None:
        with self._lock:
            if self._on_disk is None and self._folder.is_dir():
                self._on_disk = AnswerCache(self._folder)
                self._on_disk.put_many(dict(self._in_memory))  # a copy: other threads may be adding to it
        return self._on_disk
