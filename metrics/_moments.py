"""Beyond the mean: how sensitivity spreads over the samples, which needs no labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._inputs import read_fraction
from ._sensitivity import sample_sensitivity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class SensitivityMoments:
    """The distribution of S over samples.

    Attributes
    ----------
    mean : float
        S_tau itself.
    variance : float
        Mean squared deviation over the samples (no ``ddof``).
    skew : float
        Third standardised moment. Positive: a few samples carry the sensitivity. NaN if all are equal.
    quantiles : dict of float to float
        S at each level, interpolated linearly.
    tail_share : float
        Share of the samples with S above the threshold.
    """

    mean: float
    variance: float
    skew: float
    quantiles: dict[float, float]
    tail_share: float


def sensitivity_moments(
    counts: ArrayLike, *, quantiles: Sequence[float] = (0.5, 0.75, 0.9), tail: float = 0.05
) -> SensitivityMoments:
    """Variance, skew, quantiles and tail share of the normalised sensitivity over samples.

        skew = (1/N sum_i (S_i - S)^3) / (1/N sum_i (S_i - S)^2)^(3/2)

    Two prompts of equal mean differ here: many samples that shake a little, or a few that shake much.

    Parameters
    ----------
    counts : (n_samples, n_classes) int or float
        Integers: counts. Floats: p_tau.
    quantiles : sequence of float
        Levels in (0, 1).
    tail : float
        The threshold t of the tail share S > t. E25 finds consistency most telling above 0.05.

    Returns
    -------
    SensitivityMoments

    References
    ----------
    E25 names higher moments as future work.

    Examples
    --------
    >>> moments = sensitivity_moments([[4, 0], [4, 0], [4, 0], [2, 2]])
    >>> moments.mean, moments.variance, round(moments.skew, 3), moments.tail_share
    (0.25, 0.1875, 1.155, 0.25)
    >>> round(moments.quantiles[0.9], 3)
    0.7
    """
    levels = [read_fraction(level, "quantiles") for level in quantiles]
    if not np.isfinite(tail):
        raise ValueError(f"tail is {tail!r}; it must be a number")
    values = sample_sensitivity(counts)
    deviations = values - values.mean()
    variance = float(np.mean(deviations**2))
    # compared exactly: equal values may still deviate from their rounded mean
    all_equal = values.min() == values.max()
    return SensitivityMoments(
        mean=float(values.mean()),
        variance=0.0 if all_equal else variance,
        skew=float("nan") if all_equal else float(np.mean(deviations**3) / variance**1.5),
        quantiles=dict(zip(levels, np.quantile(values, levels).tolist(), strict=True)),
        tail_share=float(np.mean(values > tail)),
    )
