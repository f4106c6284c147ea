"""What racing is expected to save."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from psopt.search.racing import Schedule

_FEWEST_TO_RACE = 20
"""Samples; on fewer nobody races."""
_WHOLE = 3  # of those held until the end, about: as many as a front has beside the original prompt
# The share of candidates that stop, about: in searches on TREC .47 of 9 and .68 of 37 did with 200 samples, .41 of 17
# with 100. At each rung half of those did that were left.
_STOPPING = 0.6


class Span(NamedTuple):
    """The least, the expected and the most."""

    least: float
    expected: float
    most: float


@dataclass(frozen=True, slots=True)
class RacingEstimate:
    """What racing is expected to save of the answers on val."""

    calls_without: int  # what candidates would be asked if none raced
    calls: tuple[int, int, int]  # what they will be asked: the least, about, the most

    @classmethod
    def of(cls, grid_calls: int, n_candidates: int, times: tuple[float, float, float]) -> RacingEstimate:
        """Of so many candidates, whose grids come to so many whole ones."""
        least, middle, most = (round(grid_calls * n) for n in times)
        return cls(grid_calls * n_candidates, (least, middle, most))

    @property
    def saved(self) -> tuple[float, float, float]:
        """The share of the calls that is saved: the least, about, the most."""
        few, about, many = self.calls
        total = max(1, self.calls_without)
        return 1 - many / total, 1 - about / total, 1 - few / total

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return asdict(self)


def whole_grids(n_candidates: int, n_samples: int, n_wordings: int) -> Span:
    """To how many whole grids the answers come that candidates are asked: the least where all stop, the most if none.

    Those that don't stop wait on a part of the samples, and some are asked about all of them at the end.
    """
    if n_samples < _FEWEST_TO_RACE or n_wordings < 2:
        return Span(n_candidates, n_candidates, n_candidates)
    schedule = Schedule(np.zeros(n_samples, dtype=np.int64), n_wordings, 0)
    shares = [rung.samples * rung.wordings / (n_samples * n_wordings) for rung in schedule.rungs]
    held = shares[schedule.rungs.index(schedule.held_at)]
    n_stopping = _STOPPING * n_candidates
    of_stopped = min(held, float(np.average(shares, weights=0.5 ** np.arange(len(shares)))))
    n_whole = min(_WHOLE, n_candidates - n_stopping)
    expected = n_stopping * of_stopped + (n_candidates - n_stopping - n_whole) * held + n_whole
    return Span(n_candidates * shares[0], expected, n_candidates)
