"""How sure the choice of the knee is: in which share of resamples of val each candidate is it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from psopt.search._front import least_gains, nearest_to_utopia, within_limits
from psopt.search._influences import Influences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.search._front import Candidate

_RESAMPLES = 1_000  # a share of 60 % then has a standard error of 1.5 points


def knee_shares(
    front: Sequence[Candidate], baseline: Candidate, on_val: Callable[[Candidate], Predictions], seed: int
) -> dict[str, float]:
    """Return in which share of resamples of val each candidate is the knee, by id, the largest share first.

    Samples and wordings are drawn with replacement, the same for all candidates, and the knee is chosen anew by their
    linearised scores. Who is on the front is not chosen anew: whoever comes to be dominated is no knee either.

    Parameters
    ----------
    front : sequence of Candidate
    baseline : Candidate
    on_val : callable
        Gives a candidate's predictions on val.
    seed : int
    """
    eligible = within_limits(front)
    influences = [Influences.of(on_val(candidate)) for candidate in (baseline, *eligible)]
    rng = np.random.default_rng(seed)
    n_samples, n_wordings = (len(part) for part in (influences[0].of_samples, influences[0].of_wordings))
    samples = _draws(rng, n_samples)
    wordings = _draws(rng, n_wordings)
    gains = np.array([influence.resampled(samples, wordings) for influence in influences])
    if baseline.val.is_hollow:
        gains[0, :, 1] = least_gains(baseline)[1]
    knees = [
        nearest_to_utopia(of_front, start) for start, of_front in zip(gains[0], gains[1:].swapaxes(0, 1), strict=True)
    ]
    counted = {eligible[place].id: n for place, n in Counter(knees).items()}
    return {name: n / _RESAMPLES for name, n in sorted(counted.items(), key=lambda item: (-item[1], item[0]))}


def stability_line(shares: dict[str, float], knee_id: str) -> str:
    """Say how often the knee stays the knee.

    >>> stability_line({"c73f": 0.62, "a1b2": 0.21, "d3e4": 0.17}, "c73f")
    'in 62 % of resamples of val (second a1b2, 21 %)'
    """
    line = f"in {100 * shares.get(knee_id, 0.0):.0f} % of resamples of val"
    rivals = [(name, share) for name, share in shares.items() if name != knee_id]
    if not rivals:
        return line
    name, share = rivals[0]
    return f"{line} (second {name}, {100 * share:.0f} %)"


def _draws(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """How often each of n is drawn, less 1, in each resample; zeros for a single one."""
    return np.asarray(rng.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES), dtype=np.float64) - 1
