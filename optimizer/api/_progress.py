"""The progress that verbs show to people: `progress=`."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from psopt.notebooks import progress_bar
from psopt.search import Candidate, Observer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psopt.models import OnProgress
    from psopt.search.racing import StoppedCandidate
    from psopt.tasks import Task


class SearchBar(Observer):
    """Shows a search on a bar, as `progress` wants it: trials, the best of each objective, and the current phase."""

    def __init__(self, progress: bool | None = None) -> None:
        self._bar = progress_bar(progress)
        self._name = self._phase = self._best = ""
        self._best_f1, self._best_s = 0.0, 1.0
        self._done, self._total = 0, 0

    def started(self, task: Task, folder: Path) -> None:
        """Keep what is searched, and where it is written."""
        self._name = f"{task.name} in {folder}"

    def phase(self, text: str) -> None:
        """Show the current phase."""
        self._phase = text
        self._show(text)

    def answers(self, done: int, total: int) -> None:
        """Show how far a long reading has got."""
        self._show(f"{done:,} of {total:,} texts read")

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """Count a trial."""
        val = candidate.val
        self._best_f1, self._best_s = max(self._best_f1, val.f1), min(self._best_s, val.sensitivity)
        self._best = f"best {val.quality_name} {self._best_f1:.3f}, S {self._best_s:.3f}"
        self.stopped(candidate, n_done, n_total)

    def stopped(self, candidate: Candidate | StoppedCandidate, n_done: int, n_total: int) -> None:  # noqa: ARG002
        """Count a candidate that stopped in its race."""
        self._done, self._total = n_done, n_total
        self._show(self._phase)

    def close(self) -> None:
        """Close the bar, with a summary."""
        summary = "; ".join(filter(None, [f"{self._done} trials", self._best, self._name]))
        self._bar.close(f"psopt: {summary}" if self._name else "")

    def _show(self, current: str) -> None:
        self._bar.show("; ".join(filter(None, ["trials", self._best, current])), self._done, self._total or None)


@contextmanager
def watched(observer: Observer | None, progress: bool | None) -> Iterator[Observer]:
    """Yield the observer of a search: the given one, otherwise a bar if `progress` and the environment want one."""
    if observer is not None:
        yield observer
        return
    with closing(SearchBar(progress)) as shown:
        yield shown


@contextmanager
def reading(on_progress: OnProgress | None, progress: bool | None) -> Iterator[OnProgress]:
    """Yield what shows how many texts are read: the given callback, otherwise a bar, as in `watched`."""
    if on_progress is not None:
        yield on_progress
        return
    bar, read = progress_bar(progress), 0

    def count(done: int, total: int) -> None:
        nonlocal read
        read = total
        bar.show("texts read", done, total)

    try:
        yield count
    finally:
        bar.close(f"psopt: {read:,} texts read" if read else "")
