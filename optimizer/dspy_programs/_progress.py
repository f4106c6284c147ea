"""One line on the terminal while a program is optimized."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from psopt.search import Observer

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.search import Candidate
    from psopt.tasks import Task


class ProgressLine(Observer):
    """Shows trials, and F1, S and C of the last one; nothing where there is no terminal."""

    def __init__(self) -> None:
        self._bar: Any = None

    def started(self, task: Task, folder: Path) -> None:
        """Begin the line."""
        from tqdm import tqdm

        self._bar = tqdm(desc=f"psopt: {task.name} in {folder}", unit=" trials", disable=None, file=sys.stderr)

    def phase(self, what: str) -> None:
        """Say what is done now."""
        self._bar.set_postfix_str(what)

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """Count a trial."""
        self._bar.total = n_total
        self._bar.update(n_done - self._bar.n)
        val = candidate.val
        of_consistency = "" if val.consistency is None else f" C {val.consistency:.3f}"
        self._bar.set_postfix_str(f"{val.quality_name} {val.f1:.3f} S {val.sensitivity:.3f}{of_consistency}")

    def close(self) -> None:
        """End the line."""
        if self._bar is not None:
            self._bar.close()
