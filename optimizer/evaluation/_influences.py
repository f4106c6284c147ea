"""What each sample adds to a mean and to C, to first order: by the score's derivative by the sample's weight.

C is of pairs of a class, and a pair counts for both of its members: a class of n weighs n, without self-pairs n - 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_WEIGHT = 1e-300  # where nothing weighs the mean is 0, and nothing adds to it


def mean_influences(
    scores: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> tuple[float, NDArray[np.float64]]:
    """Return the mean of one number an answer, (N, Q), and what each sample adds to it, (N,), which sum to 0.

    With weights (N, Q) it is a ratio of sums, as micro-F1 over several labels is.

    >>> mean, parts = mean_influences(np.array([[1.0, 0.0], [1.0, 1.0]]))
    >>> mean, parts.tolist()
    (0.75, [-0.125, 0.125])
    """
    if weights is None:
        weights = np.ones(scores.shape)
    total = max(float(weights.sum()), _LEAST_WEIGHT)
    mean = float((scores * weights).sum()) / total
    return mean, np.asarray((weights * (scores - mean)).sum(axis=1) / total)


def consistency_influences(with_class: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what the weight of each row adds to C: (M,), which sum to 0; see `psopt.metrics.score_intervals`.

    Parameters
    ----------
    with_class : (M,) float
        Mean consistency of each row with its class, itself among it (`psopt.metrics.sample_consistency`).
    labels : (M,) int
    """
    sizes = np.bincount(labels)[labels]
    pooled = np.average(with_class, weights=sizes)
    return np.asarray(2 * sizes * (with_class - pooled) / sizes.sum())


def consistency_contributions(
    with_others: NDArray[np.float64], labels: NDArray[np.int64]
) -> tuple[float, NDArray[np.float64]]:
    """Return C without self-pairs, and by how much each row's contribution is off it, (M,): Hajek's projection.

    Parameters
    ----------
    with_others : (M,) float
        Mean consistency of each row with the others of its class; where there are none, 1.
    labels : (M,) int
    """
    others = np.bincount(labels)[labels] - 1.0
    weights = others / others.mean() if others.any() else np.ones(len(others))
    pooled = float((weights * with_others).mean())
    return pooled, np.asarray(2 * weights * (with_others - pooled))
