"""Answers of programs, stored so that no run is paid for twice; and the texts on which they failed."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

from psopt.errors import ModelError
from psopt.models import AnswerCache

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    Record = dict[str, Any]
    """A run has its ``outcome`` (None if it could not be parsed), ``merit`` and the metric's ``feedback``.

    A trace has its ``steps``. One that ``failed`` only counts for this process: the next one tries again.
    """

_SHOWN = 60  # characters of a text in a message
_LONGEST = 300  # characters of an error


class Records:
    """Records by their key, stored in the run directory; threads may add to them concurrently."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._failed: dict[bytes, Record] = {}

    @cached_property
    def _cache(self) -> AnswerCache:
        return AnswerCache(self._folder)

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, Record]:
        """Return the stored records."""
        keys = list(keys)
        failed = {key: self._failed[key] for key in keys if key in self._failed}
        return failed | self._cache.get_many(keys)

    def put(self, key: bytes, record: Record) -> None:
        """Store a record."""
        if record.get("failed"):
            self._failed[key] = record
        else:
            self._cache.put(key, record)


class Failures:
    """Counts the texts on which a program or a metric failed.

    A text that fails under one wording mostly fails under all, so texts are counted, not runs.

    Parameters
    ----------
    most : int
        How many texts may fail; one more ends the run.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._errors: dict[str, str] = {}
        self._n_runs = 0
        self._first: tuple[str, Exception] | None = None

    @property
    def by_text(self) -> dict[str, str]:
        """The first error of each text that failed."""
        return dict(self._errors)

    def add(self, what: str, text: str, error: Exception) -> None:
        """Count a failure of `what` (the program, the metric) on a text.

        Raises ModelError if too many texts have failed.
        """
        lines = str(error).splitlines()
        message = f"{type(error).__name__}: {lines[0][:_LONGEST] if lines else ''}"
        with self._lock:
            self._n_runs += 1
            self._errors.setdefault(text, message)
            self._first = self._first or (what, error)
            n_texts = len(self._errors)
        if n_texts > self._most:
            reason = "" if self._most == 0 else f", after {self._most} other texts (max_errors={self._most})"
            raise ModelError(f"the {what} failed on {text[:_SHOWN]!r}{reason}: {message}") from error

    def stop(self) -> None:
        """End the run: there were only failures.

        Always raises ModelError.
        """
        failing_part, error = self._first or ("program", RuntimeError())
        raise ModelError(f"the {failing_part} fails on every text: {next(iter(self._errors.values()))}") from error

    @property
    def line(self) -> str:
        """A line about them at the end; empty if there are none."""
        if not self._errors:
            return ""
        text, message = next(iter(self._errors.items()))
        runs = "1 run" if self._n_runs == 1 else f"{self._n_runs} runs"
        texts = "1 text" if len(self._errors) == 1 else f"{len(self._errors)} texts"
        return f"{runs} on {texts} failed and count as no answer, the first on {text[:_SHOWN]!r}: {message}"
