"""Paired differences of two prompts on the same samples and wordings, and tests for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ._influences import difference_statistic, joint_statistic, mean_statistic, of_groups, read_answers
from ._inputs import SCORES, SHAPE, as_array, n_weighted, read_groups, read_scores, read_tail, read_weights
from ._intervals import FEWEST_WORDINGS, SAMPLES_COUNT
from ._scatter import floor_p_value, floors, quantile, scatter

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._scatter import Scatter, Wordings

ROUNDING = 1e-12  # differences closer than this are equal: summation order must not decide a test


@dataclass(frozen=True)
class PairedDifference:
    """How much the second prompt differs from the first in one score."""

    difference: float  # second minus first
    # Bounds of its interval
    low: float
    high: float
    p_value: float  # two-sided, in (0, 1]: how often chance alone moves the difference this far from 0
    # 0 if nothing varies; None if it cannot be estimated: from one sample, or for S from one or two wordings
    standard_error: float | None = None
    df: float | None = None  # degrees of freedom of the t distribution; None if they cannot be estimated
    # The number of samples behind the rule of three, if too few samples differ to estimate a variance
    thin: float | None = None

    def p_above(self, bound: float = 0.0) -> float:
        """One-sided p-value of "the true difference is `bound` or less": a small one supports more than `bound`."""
        if self.standard_error is None:
            return 1.0
        lead = self.difference - bound
        if self.standard_error > 0:
            from scipy.special import stdtr

            p_value = float(stdtr(self.df or np.inf, -lead / self.standard_error))
        else:
            p_value = 0.0 if lead > ROUNDING else 1.0
        if self.thin is None:
            return p_value
        return max(p_value, floor_p_value(self.difference, bound, self.thin, -1.0))

    def p_below(self, bound: float = 0.0) -> float:
        """One-sided p-value of "the true difference is `bound` or more": a small one supports less than `bound`."""
        return replace(self, difference=-self.difference).p_above(-bound)


def compare_scores(
    first: ArrayLike,
    second: ArrayLike,
    y: ArrayLike,
    n_classes: int,
    *,
    wordings: Wordings = "random",
    confidence: float = 0.95,
    similarity: ArrayLike | None = None,
    second_similarity: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> dict[str, PairedDifference]:
    """Test the difference of two prompts in F1, sensitivity and consistency.

    Both prompts answered the same samples under the same wordings, so their shared part cancels: influences and
    leave-one-wording-out scores are subtracted before they are squared (see `score_intervals`).

    The t quantiles are on the plain scale; the degrees of freedom depend on how many samples carry the variance. For
    truly equal prompts a test at the 5 % level reported a difference of F1 in 2.8 %, of S in 2.6 % and of C in 2.6 % of
    the cases; in the worst of 60 cells in 7, 6 and 7 % (benchmarks/coverage.md; more in docs/guides/how-sure.md).

    Parameters
    ----------
    first, second
        The two prompts' answers, each as `predictions` in `score_intervals`.
    y, n_classes, wordings, confidence, similarity, groups
        As in `score_intervals`.
    second_similarity : like `similarity`, optional
        For the second prompt's answers, if each prompt's answers are numbered separately.

    Returns
    -------
    dict of str to PairedDifference
        Keys ``f1``, ``sensitivity``, ``consistency``. For sensitivity a *negative* difference is the better one.

    Examples
    --------
    >>> before = [[0, 1], [1, 0], [1, 1], [0, 0]]
    >>> after = [[0, 0], [1, 1], [1, 1], [0, 0]]
    >>> found = compare_scores(before, after, [0, 1, 1, 0], n_classes=3)["f1"]
    >>> found.difference, found.low < 0 < found.high
    (0.25, True)
    """
    before, after = (as_array(array, name, (2, 3), SHAPE) for array, name in ((first, "first"), (second, "second")))
    for axis, side in enumerate(("samples", "rephrasings")):
        if before.shape[axis] != after.shape[axis]:
            have = f"second has {after.shape[axis]} {side} and first has {before.shape[axis]}"
            raise ValueError(f"{have}; both must have the same")
    of_second = similarity if second_similarity is None else second_similarity
    statistic = difference_statistic(
        joint_statistic(read_answers(before, y, n_classes, "first", similarity=similarity)),
        joint_statistic(read_answers(after, y, n_classes, "second", similarity=of_second)),
    )
    statistic = of_groups(statistic, read_groups(groups, len(before)))
    tail = read_tail(confidence)
    spread = scatter(statistic, before.shape[1], wordings, fewest_wordings=FEWEST_WORDINGS)
    return {name: _difference(spread, place, SAMPLES_COUNT[place], tail) for place, name in enumerate(SCORES)}


def mean_difference(
    first_scores: ArrayLike,
    second_scores: ArrayLike,
    *,
    first_weights: ArrayLike | None = None,
    second_weights: ArrayLike | None = None,
    wordings: Wordings = "random",
    confidence: float = 0.95,
) -> PairedDifference:
    """Test the difference of two means over answers, such as means of a metric's scores.

    Parameters
    ----------
    first_scores, second_scores : (n_samples, n_rephrasings) float or bool
        One number per answer of each prompt, in [0, 1].
    first_weights, second_weights : (n_samples, n_rephrasings) float, optional
        How much each number counts, as in `mean_interval`.
    wordings, confidence
        As in `compare_scores`.

    Returns
    -------
    PairedDifference
        Second minus first.

    Examples
    --------
    >>> round(mean_difference([[0.1, 0.2], [0.3, 0.2]], [[0.9, 0.8], [0.7, 0.8]]).difference, 2)
    0.6
    """
    before = read_scores(first_scores, "first_scores")
    after = read_scores(second_scores, "second_scores")
    if before.shape != after.shape:
        raise ValueError(f"second_scores has shape {after.shape}, and first_scores {before.shape}; both must be equal")
    before_weights = read_weights(first_weights, before, "first_weights")
    after_weights = read_weights(second_weights, after, "second_weights")
    statistic = difference_statistic(mean_statistic(before, before_weights), mean_statistic(after, after_weights))
    n_samples = n_weighted(before, before_weights, after_weights)
    spread = scatter(statistic, before.shape[1], wordings, n_samples)
    return _difference(spread, 0, 1.0, read_tail(confidence))


def _difference(spread: Scatter, place: int, counts: float, tail: float) -> PairedDifference:
    difference, variance = float(spread.estimates[place]), float(spread.variances[place])
    if not np.isfinite(variance):
        return PairedDifference(difference, -1.0, 1.0, 1.0)
    error, df = float(np.sqrt(variance)), float(spread.df[place])
    reach = quantile(df, tail) * error
    low, high = max(difference - reach, -1.0), min(difference + reach, 1.0)
    thin = None
    if spread.is_thin[place]:
        thin = float(counts * spread.n_samples[place])
        lowest, highest = floors(difference, thin, tail, -1.0)
        low, high = min(low, lowest), max(high, highest)
    one_sided = PairedDifference(difference, float(low), float(high), 1.0, error, df, thin)
    if abs(difference) <= ROUNDING:
        return one_sided
    return replace(one_sided, p_value=min(1.0, 2 * min(one_sided.p_above(), one_sided.p_below())))
