"""Runs of a program that failed: counted, said, and tolerated as long as they are few."""

from __future__ import annotations

import threading

from psopt.errors import ModelError

_SHOWN = 60  # characters of a text in a message
_LONGEST = 300  # characters of an error


class Failures:
    """Counts the texts that a program, or a metric, failed on.

    A text that fails under one wording mostly fails under all: what counts is how many texts do, not how many runs.

    Parameters
    ----------
    most : int
        How many texts may fail: with one more the run ends.
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
        said = f"{type(error).__name__}: {lines[0][:_LONGEST] if lines else ''}"
        with self._lock:
            self._n_runs += 1
            self._errors.setdefault(text, said)
            self._first = self._first or (what, error)
            n_texts = len(self._errors)
        if n_texts > self._most:
            reason = "" if self._most == 0 else f", after {self._most} other texts (max_errors={self._most})"
            raise ModelError(f"the {what} failed on {text[:_SHOWN]!r}{reason}: {said}") from error

    def stop(self) -> None:
        """End the run: nothing but failures has come.

        Raises ModelError: always.
        """
        what, error = self._first or ("program", RuntimeError())
        raise ModelError(f"the {what} fails on every text: {next(iter(self._errors.values()))}") from error

    @property
    def line(self) -> str:
        """What is said of them at the end; nothing where there are none."""
        if not self._errors:
            return ""
        text, said = next(iter(self._errors.items()))
        runs = "1 run" if self._n_runs == 1 else f"{self._n_runs} runs"
        texts = "1 text" if len(self._errors) == 1 else f"{len(self._errors)} texts"
        return f"{runs} on {texts} failed and count as no answer, the first on {text[:_SHOWN]!r}: {said}"
