"""When a candidate stops: others are clearly better in all objectives, or its F1 is clearly below the baseline's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Bounds on one side: at 99 % below 80 samples, at 95 % below 160, at 90 % from there on. Looks are not corrected: a
# wrong stop costs search quality, never truth, for what is reported has whole grids. Early looks are the cheap ones.
# Simulated with 15 seeds each, answers of the plain search's and hypervolume kept (worst seed in brackets): 1.28
# throughout took 17.0 % for 99.4 % (95), these 18.9 % for 99.9 % (99.7); where candidates are near-ties 19.3 % for
# 99.1 % (94), these 24.4 % for 99.8 % (99).
_EARLY = ((80, 2.33), (160, 1.64))
_LATE = 1.28
# When the search ends and whole grids are shared out: 1.28 there took .6 % of the answers more for .1 % of the
# hypervolume, and 2.7 % for .04 % where candidates are near-ties. And how much better a candidate might still be and be
# left without a whole grid: of the hypervolume beyond the original prompt's that a search's candidates hold, .01 kept
# 90 % (69 in the worst) for 16.0 % of the plain search's answers, .005 99.9 % (99.7) for 18.4 %, and 0 as much for
# 25.1 %: four recorded searches of a simulated model with trade-offs, and one of minilm on TREC, 500 x 10.
_AT_THE_END = 1.0
_NEGLIGIBLE_AT_THE_END = 0.005
_BELOW = 1.64
# How much better a candidate might still be in one objective and stop all the same: below the noise of a few hundred
# samples, chosen by judgement.
NEGLIGIBLE = 0.01


DOMINATED = "dominated"
F1_BELOW = "F1 below the baseline's"


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a candidate stopped."""

    reason: str  # `DOMINATED` or `F1_BELOW`
    rival: str  # the id of the prompt that it was compared with
    # By how much it is ahead of the rival in F1, -S (as disagreement) and, where defined, C on the rung's cells
    lead: tuple[float, ...]

    @property
    def shortfall(self) -> float:
        """How much the candidate lacks to be level with the rival in its best objective."""
        return -max(self.lead)

    def __str__(self) -> str:
        return f"dominated by {self.rival}" if self.reason == DOMINATED else self.reason


class PairedRule:
    """Judges paired differences of a candidate and a rival, (n, k), all to be maximised, by normal bounds at each look.

    Parameters
    ----------
    negligible : float
        How much better a candidate might still be in one objective and be dominated all the same.
    """

    def __init__(self, negligible: float = NEGLIGIBLE) -> None:
        self._negligible = negligible

    def is_dominated(self, differences: NDArray[np.float64]) -> bool:
        """Whether the rival is clearly better in all objectives."""
        mean = differences.mean(axis=0)
        highest = mean + _bound(len(differences)) * _standard_error(differences)
        return bool((mean <= 0).all() and (mean < 0).any() and (highest < self._negligible).all())

    def is_no_better(self, differences: NDArray[np.float64]) -> bool:
        """Whether the candidate is better than the rival by next to nothing at most; ties are no better."""
        highest = differences.mean(axis=0) + _AT_THE_END * _standard_error(differences)
        return bool((highest < _NEGLIGIBLE_AT_THE_END).all())

    def is_below(self, differences: NDArray[np.float64], margin: float) -> bool:
        """Whether the candidate's F1 is clearly below the rival's less a margin."""
        f1 = differences[:, :1]
        return bool((f1.mean(axis=0) + _BELOW * _standard_error(f1) < -margin).all())


def _bound(n_samples: int) -> float:
    return next((bound for below, bound in _EARLY if n_samples < below), _LATE)


def _standard_error(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(differences.std(axis=0, ddof=1) / np.sqrt(len(differences)))
