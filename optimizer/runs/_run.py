"""What a run has found, as the Python API gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.search import pick

if TYPE_CHECKING:
    from pathlib import Path

    import optuna
    from psopt.search import Candidate


@dataclass(frozen=True, eq=False)
class Run:
    """What an optimization found.

    Attributes
    ----------
    path : Path
        The run directory.
    baseline : Candidate
        The seed prompt, scored on val and test.
    front : tuple of Candidate
        The Pareto front by falling F1 on val, scored on val and test; `test` is None where a limit did not allow it.
    short : Candidate
        The prompt with fewest edits that is no worse than the knee by more than one standard error on val; perhaps the
        knee itself, perhaps not on the front.
    study : optuna.Study
    finish_reason : str
        ``trials`` (the total was reached), ``converged`` (the front did not move any more), ``exhausted`` (nothing new
        to try) or ``budget`` (a limit was reached).
    """

    path: Path
    baseline: Candidate
    front: tuple[Candidate, ...]
    short: Candidate
    study: optuna.Study
    finish_reason: str

    def pick(self, which: str = "knee") -> Candidate:
        """Pick ``knee``, ``short``, the best ``f1``, ``sensitivity`` or ``consistency``, an id, or by a wish.

        A wish is ``max F1 with S <= .05`` and the like.
        """
        return pick(self.front, self.baseline, which, self.short)
