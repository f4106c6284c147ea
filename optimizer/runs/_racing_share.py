"""How much of their grids candidates that race are asked, before anything is known of them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from psopt.search.racing import Schedule

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST_TO_RACE = 20
"""Samples; on fewer nobody races."""
# The share of candidates that stops at each rung. With .31 forty candidates on 300 x 10 are asked a third of their
# grids, audits and those before which nobody stops among them: what plain racing took. .2 and .5 are chosen around it.
_STOPPING = (0.5, 0.31, 0.2)
_WHOLE = 2  # candidates beside the baseline that nobody may stop: there is nobody yet to compare them with
_AUDITED = 0.1


class Span(NamedTuple):
    """The least, the expected and the most."""

    least: float
    expected: float
    most: float


def whole_grids(n_candidates: int, n_done: int, n_samples: int, n_wordings: int) -> Span:
    """To how many whole grids the answers come that candidates are asked, after `n_done` with the baseline."""
    n_whole = min(n_candidates, max(0, 1 + _WHOLE - max(1, n_done)))
    if n_samples < FEWEST_TO_RACE or n_wordings < 2:
        return Span(n_candidates, n_candidates, n_candidates)
    shares = _shares(n_samples, n_wordings)
    return Span(*(n_whole + (n_candidates - n_whole) * share for share in shares))


@lru_cache(maxsize=1024)
def _shares(n_samples: int, n_wordings: int) -> tuple[float, ...]:
    """What share of a grid a candidate is asked in the mean: few, expected, many."""
    rungs = Schedule(np.zeros(n_samples, dtype=np.int64), n_wordings, 0).rungs
    asked = np.array([rung.samples * rung.wordings for rung in rungs]) / (n_samples * n_wordings)
    return tuple(_expected_share(asked, stopping) for stopping in _STOPPING)


def _expected_share(asked: NDArray[np.float64], stopping: float) -> float:
    reached = (1 - stopping) ** np.arange(len(asked))
    ends = np.append(reached[:-1] * stopping, reached[-1])
    share = float(asked @ ends)
    return share + _AUDITED * float(1 - reached[-1]) * (1 - share)
