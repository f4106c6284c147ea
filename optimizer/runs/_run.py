"""What a run has found, as the Python API gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.search import pick

if TYPE_CHECKING:
    from pathlib import Path

    import optuna
    from psopt.runs._recommendation import Recommendation
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
    recommendation : Recommendation or None
        What the gate has decided, and the test that it rests on; None where a run was put together without it.
    """

    path: Path
    baseline: Candidate
    front: tuple[Candidate, ...]
    short: Candidate
    study: optuna.Study
    finish_reason: str
    recommendation: Recommendation | None = None

    def __repr__(self) -> str:
        """Where it is, and what it recommends: all that was found would fill screens."""
        chosen = "the seed prompt" if self.recommended.id == self.baseline.id else self.recommended.id
        return f"<Run {str(self.path)!r}: {len(self.front)} prompts on the front, recommended {chosen}>"

    @property
    def recommended(self) -> Candidate:
        """The prompt to use: one that has passed the gate, else the baseline; the knee where there was no gate."""
        return self.pick("recommended")

    def pick(self, which: str = "knee") -> Candidate:
        """Pick ``recommended``, ``knee``, ``short``, the best by a measure, one by its id, or by a wish.

        Measures are ``f1``, ``sensitivity`` and ``consistency``; a wish is ``max F1 with S <= .05`` and the like.
        """
        recommended = self.recommendation.prompt if self.recommendation else None
        return pick(self.front, self.baseline, which, self.short, recommended)
