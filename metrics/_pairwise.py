"""The quadratic view of consistency: a matrix to look at, for one class at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._inputs import read_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def pairwise_consistency(counts: ArrayLike) -> NDArray[np.float64]:
    """Consistency of every pair of samples: one minus their total variation distance.

        C(x, x') = 1 - 1/2 sum_c |p_tau(c|x) - p_tau(c|x')|

    Parameters
    ----------
    counts : (n, n_classes) int or float
        The samples of *one* class (``counts[y == label]``). Integers: counts. Floats: p_tau.

    Returns
    -------
    (n, n) float64
        Symmetric, in [0, 1], ones on the diagonal. Memory grows with n²; its mean comes from `consistency`.

    References
    ----------
    E25, eqs. (5) and (6).

    Examples
    --------
    >>> pairwise_consistency([[4, 0], [2, 2], [1, 3]])
    array([[1.  , 0.5 , 0.25],
           [0.5 , 1.  , 0.75],
           [0.25, 0.75, 1.  ]])
    """
    table, n_rephrasings = read_counts(counts)
    differences = np.zeros((len(table), len(table)))
    for column in table.T.astype(np.float64):
        differences += np.abs(np.subtract.outer(column, column))
    return np.clip(1 - differences / (2 * (n_rephrasings or 1)), 0, 1)
