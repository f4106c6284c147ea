"""What racing is expected to save."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from psopt.search.racing import Schedule

_FEWEST_TO_RACE = 20
"""Samples; on fewer nobody races."""
_WHOLE = 3  # of those held until the end, about: as many as a front has beside the original prompt
# The share of racing candidates that stop, from 15 searches in which simulated models and minilm answered, on TREC:
# .47 of 9 and .68 of 37 with 200 samples, .41 of 17 with 100, .19 of 9 with 50. The more are known the better are those
# that others are compared with, and fewer samples show less. Half of the rest stopped at each rung.
_STOPPING = 0.75
_LONG = 12.0
_ENOUGH_SAMPLES = 150
# How far that may be off for models that differ from these, in times of it; chance comes on top (90 %, at both ends).
_FEWER, _MORE = 0.5, 1.3
_CHANCE = 1.64


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


class Span(NamedTuple):
    """The least, the expected and the most."""

    least: float
    expected: float
    most: float


def whole_grids(n_candidates: int, n_done: int, n_samples: int, n_wordings: int) -> Span:
    """To how many whole grids the answers come that candidates are asked, after `n_done` with the baseline."""
    can_race = n_samples >= _FEWEST_TO_RACE and n_wordings > 1
    shares, held = _schedule_shares(n_samples, n_wordings) if can_race else ((), 1.0)
    if not shares:  # or the first rung is the whole grid
        return Span(n_candidates, n_candidates, n_candidates)
    few, some, many = _stopping(n_candidates, n_samples, n_done)
    mean = float(np.average(shares, weights=0.5 ** np.arange(len(shares))))
    n_held = n_candidates - some
    n_whole = min(_WHOLE, n_held)
    return Span(
        many * shares[0] + (n_candidates - many) * held,
        some * min(mean, held) + (n_held - n_whole) * held + n_whole,
        n_candidates - few * (1 - shares[-1]),
    )


def _stopping(n_racing: int, n_samples: int, n_done: int) -> Span:
    """How many of the racing candidates stop, after `n_done`: few, about, many."""
    if not n_racing:
        return Span(0, 0, 0)
    clear = _STOPPING * (1 - math.exp(-(n_done + n_racing) / _LONG))  # large effects show on few samples
    share = clear * min(1.0, math.sqrt(n_samples / _ENOUGH_SAMPLES))
    few = math.floor(n_racing * max(0.0, _FEWER * share - _chance(share, n_racing)))
    many = math.ceil(n_racing * min(1.0, _MORE * clear + _chance(clear, n_racing)))
    return Span(few, n_racing * share, many)


def _chance(share: float, n: int) -> float:
    return _CHANCE * math.sqrt(share * (1 - share) / n)


@lru_cache(maxsize=1024)
def _schedule_shares(n_samples: int, n_wordings: int) -> tuple[tuple[float, ...], float]:
    """What share of the grid the rungs before the last have, and the one that survivors wait at."""
    schedule = Schedule(np.zeros(n_samples, dtype=np.int64), n_wordings, 0)
    shares = {rung: rung.samples * rung.wordings / (n_samples * n_wordings) for rung in schedule.rungs}
    return tuple(shares[rung] for rung in schedule.rungs[:-1]), shares[schedule.held_at]
