"""Variances of scores: linearised over samples, jackknifed over wordings.

With u_i the influence of sample i and theta_-q the score without wording q,

    V_samples  = N / (N - 1) sum_i u_i^2
    V_wordings = (Q - 1) / Q sum_q (theta_-q - mean)^2
    V_both     = N / (N - 1) (Q - 1) / Q sum_iq (u_i,-q - mean_q)^2
    V          = V_samples + V_wordings - V_both

V_both is the interaction of sample and wording. Both other terms contain it, so it is subtracted once; for a mean this
is the two-way analysis of variance. The t quantile has Satterthwaite's degrees of freedom, with 2 / (1 / m - 1 / N) for
V_samples. Here m = (sum u^2)^2 / sum u^4 is the number of samples that carry the variance: for a share near 0 or 1 it
is the number of exceptions. Three samples estimate a variance less precisely than hundreds do.

If nothing varies, the variance is 0 and uninformative. Then each end of an interval is at least as far out as if
-ln(tail) further samples (3.69 for 95 %) were all at that end of the scale: this many can be missed with the tail's
chance (the rule of three, Hanley and Lippman-Hand, 1983). C counts pairs, which hold a sample twice, so each sample
counts half: `n` is N / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._inputs import read_choice

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray

    from ._influences import Statistic
    from ._inputs import Floats

    Wordings = Literal["random", "fixed"]

FEW = 5.0  # carriers; with fewer, unseen samples decide, as if nothing varied
EQUAL = 1e-9  # relative: 2 samples are 2 carriers, but for rounding, which the samples' order changes
NEGLIGIBLE = 1e-24  # variances below this are rounding errors of equal scores


@dataclass(frozen=True)
class Scatter:
    """How precise k scores are."""

    # An infinite variance means unknown, as from one sample
    estimates: Floats
    variances: Floats
    # Degrees of freedom; the plain ones use N - 1 for the samples, however few carry the variance
    df: Floats
    plain_df: Floats
    is_thin: NDArray[np.bool_]  # whether so few samples carry the variance that unseen ones decide
    n_samples: Floats  # how many samples count


def scatter(
    statistic: Statistic,
    n_rephrasings: int,
    wordings: str,
    n_samples: ArrayLike | None = None,
    fewest_wordings: ArrayLike = 1,
) -> Scatter:
    """Variances of scores over samples, and over wordings if they are random and more than one.

    `n_samples` (k,) is how many samples count for each score; by default all. `fewest_wordings` (k,) is how many
    wordings a score takes to be defined: S takes two. So many show no scatter, and each one more adds a degree of
    freedom; with one wording, scores that take more are unknown.
    """
    read_choice(wordings, "wordings", ("random", "fixed"))
    estimates, influences = statistic(None)
    if n_samples is None:
        n_samples = influences.shape[1]
    sizes = np.full(estimates.shape, n_samples, dtype=np.float64)
    correction = np.divide(sizes, sizes - 1, out=np.zeros(sizes.shape), where=sizes > 1)
    squares = np.square(influences).sum(axis=1)
    wordings_df = np.full(sizes.shape, n_rephrasings - np.asarray(fewest_wordings), dtype=np.float64)
    is_known = (sizes > 1) & (wordings_df >= 0)  # one sample shows no scatter
    of_samples = np.where(is_known, correction * squares, np.inf)
    carriers = _carriers(influences, squares)
    # 2 / (1 / m - 1 / N): the variance of a variance, by its kurtosis N / m
    sample_df = np.clip(2 / np.maximum(1 / np.maximum(carriers, 1e-9) - 1 / sizes, 1e-9), 1, np.maximum(sizes - 1, 1))
    is_thin = carriers < np.minimum(FEW, sizes) * (1 - EQUAL)
    plain_df = np.maximum(sizes - 1, 1)
    if wordings == "fixed" or n_rephrasings == 1:
        return Scatter(estimates, of_samples, sample_df, plain_df, is_thin, sizes)
    of_wordings, of_both = _over_wordings(statistic, n_rephrasings, influences.shape)
    of_both *= correction
    variances = np.maximum(of_samples + of_wordings - of_both, np.maximum(of_samples, of_wordings))
    variances[wordings_df < 1] = np.inf
    parts_of_wordings = (of_wordings, np.maximum(wordings_df, 1.0))
    df, plain_df = (
        _satterthwaite(variances, [(of_samples, of_df), parts_of_wordings]) for of_df in (sample_df, plain_df)
    )
    return Scatter(estimates, variances, df, plain_df, is_thin, sizes)


def _satterthwaite(variances: Floats, parts: list[tuple[Floats, Floats]]) -> Floats:
    """Degrees of freedom of a sum of variances, from those of its parts; those of the first part if nothing varies."""
    is_varying = np.isfinite(variances) & (variances > NEGLIGIBLE)
    shares = np.zeros(variances.shape)
    for part, df in parts:
        shares += np.square(np.divide(part, variances, out=np.zeros(part.shape), where=is_varying)) / df
    return np.asarray(np.divide(1.0, shares, out=parts[0][1].copy(), where=is_varying))


def _carriers(influences: Floats, squares: Floats) -> Floats:
    """How many samples carry a variance: from 1, if only one deviates, to N; 0 if none does."""
    fourth = np.power(influences, 4).sum(axis=1)
    return np.asarray(np.divide(np.square(squares), fourth, out=np.zeros(len(squares)), where=squares > NEGLIGIBLE))


def _over_wordings(statistic: Statistic, n_rephrasings: int, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """V_wordings, and V_both without its factor N / (N - 1), each (k,): one wording at a time, to save memory."""
    left_out = np.empty((n_rephrasings, shape[0]))
    total, squares = np.zeros(shape), np.zeros(shape)
    left_out[0], first = statistic(0)
    for wording in range(1, n_rephrasings):
        left_out[wording], influences = statistic(wording)
        # squared distances from the first lose no digits if all are nearly equal
        total += influences - first
        squares += np.square(influences - first)
    factor = (n_rephrasings - 1) / n_rephrasings
    apart = np.maximum(squares - np.square(total) / n_rephrasings, 0.0).sum(axis=1)
    return factor * np.square(left_out - left_out.mean(axis=0)).sum(axis=0), factor * apart


def quantile(df: float, tail: float) -> float:
    """The t above which the tail's share of the distribution lies."""
    from scipy.special import stdtrit  # takes .1 s to import, so only where needed

    return float(-stdtrit(df, tail))


def logit_ends(estimate: float, error: float, df: float, tail: float) -> tuple[float, float]:
    """The ends of an interval of a score in [0, 1], t quantiles away on the logit scale.

    A score near an end of the scale has a skewed distribution; the error on the logit scale is error / (x (1 - x)).
    """
    spread = estimate * (1 - estimate)
    if error == 0 or spread <= 0:
        return estimate, estimate
    from scipy.special import expit, logit

    middle, reach = logit(estimate), quantile(df, tail) * error / spread
    # rounding in the round trip must not put the estimate outside
    return min(float(expit(middle - reach)), estimate), max(float(expit(middle + reach)), estimate)


def floors(estimate: float, n: float, tail: float, least: float = 0.0) -> tuple[float, float]:
    """The estimate if -ln(tail) further samples were all at the lower end of the scale, and if at its upper end, 1.

    >>> round(floors(1.0, 50, 0.025)[0], 3)
    0.931
    """
    n_all = n - float(np.log(tail))
    return least + (estimate - least) * n / n_all, 1.0 - (1.0 - estimate) * n / n_all


def floor_p_value(estimate: float, bound: float, n: float, least: float) -> float:
    """The tail at which the lower end of `floors` equals a bound: 1 for a bound above the estimate.

    >>> round(floor_p_value(1.0, floors(1.0, 50, 0.025)[0], 50, 0.0), 6)
    0.025
    """
    if bound >= estimate:
        return 1.0
    if bound <= least:
        return 0.0
    return float(np.exp(-n * ((estimate - least) / (bound - least) - 1)))
