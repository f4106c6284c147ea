"""What a search tells whoever watches it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.models.chat import Budget
    from psopt.search._front import Candidate
    from psopt.search.distributed import StoredStudy
    from psopt.search.racing import StoppedCandidate
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task


class Observer:
    """Watch a search; every method may be overridden, and does nothing here.

    Attributes
    ----------
    budget : Budget or None
        What the search may spend and has spent, from its beginning on.
    study : StoredStudy or None
        The study, from its beginning on.
    """

    budget: Budget | None = None
    study: StoredStudy | None = None

    def started(self, task: Task, folder: Path) -> None:
        """All that was given can be used, and the run directory is ready."""

    def phase(self, what: str) -> None:
        """A new part of the work begins, said in a few words; a local model is timed before the run has `started`."""

    def answers(self, done: int, total: int) -> None:
        """A long evaluation goes on: so many of so many new texts read."""

    def begin_trial(self, number: int, prompt: Prompt) -> None:
        """A candidate is about to be evaluated here; it may fail, and then nothing more is said of it."""

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """A candidate has been evaluated."""

    def stopped(self, candidate: StoppedCandidate, n_done: int, n_total: int) -> None:
        """A candidate has stopped in its race: others are clearly better."""
