"""Intervals and tests of a metric's scores, whose mean stands in the place of F1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.metrics import PairedDifference

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REPLICATES = 1000  # as many as `psopt.metrics.bootstrap_ci` and `paired_test` draw by default
_ROUNDING = 1e-12  # as in `psopt.metrics.paired_test`: summation order must not decide
_BOUNDS = [2.5, 97.5]  # percentiles: a 95 % interval


def interval_of_mean(scores: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """95 % percentile interval of a mean over (N, Q) scores, samples and rephrasings both drawn anew."""
    rng = np.random.default_rng(seed)
    n_samples, n_rephrasings = scores.shape
    means = [
        scores[rng.integers(n_samples, size=n_samples)][:, rng.integers(n_rephrasings, size=n_rephrasings)].mean()
        for _ in range(_REPLICATES)
    ]
    low, high = np.percentile(means, _BOUNDS)
    return float(low), float(high)


def paired_means(first: NDArray[np.float64], second: NDArray[np.float64], seed: int) -> PairedDifference:
    """`psopt.metrics.paired_test` for means over (N, Q) scores: the same draws for both, second minus first."""
    differences = second - first
    rng = np.random.default_rng(seed)
    n_samples, n_rephrasings = differences.shape
    rows = rng.integers(n_samples, size=(_REPLICATES, n_samples))
    columns = rng.integers(n_rephrasings, size=(_REPLICATES, n_rephrasings))
    means = np.array([differences[row][:, column].mean() for row, column in zip(rows, columns, strict=True)])
    mean = float(differences.mean())
    low, high = (float(bound) for bound in np.percentile(means, _BOUNDS))
    hits = int((np.abs(means - means.mean()) >= abs(mean) - _ROUNDING).sum())
    # the observed difference counts as a draw of its own, so that no p-value is 0 (as in `paired_test`)
    return PairedDifference(mean, low, high, (1 + hits) / (1 + _REPLICATES))
