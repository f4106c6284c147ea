"""Consistency of one sample with its class: what the search for weak spots sorts by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._differences import class_differences
from ._inputs import read_counts, read_labels
from ._ratio import ratio

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def sample_consistency(counts: ArrayLike, y: ArrayLike, *, self_pairs: bool = True) -> NDArray[np.float64]:
    """Mean consistency of each sample with the samples of its own class.

        C(x) = 1/|D_y| sum_{x' in D_y} 1 - TVD(p_tau(.|x), p_tau(.|x'))

    As fast as `consistency`, which is its mean over a class.

    Parameters
    ----------
    counts : (n_samples, n_classes) int or float
        Integers: counts. Floats: p_tau.
    y : (n_samples,) int
        True labels in [0, n_classes).
    self_pairs : bool
        Count the sample itself among its class (the paper's convention) or leave it out.

    Returns
    -------
    (n_samples,) float64
        In [0, 1]. Low: unlike its class. The only sample of a class has 1, and NaN without self-pairs.

    References
    ----------
    E25, eq. (6) averaged over the class; appendices A and C sort by it.

    Examples
    --------
    >>> sample_consistency([[4, 0], [2, 2], [4, 0]], [0, 0, 0], self_pairs=False)
    array([0.75, 0.5 , 0.75])
    """
    table, n_rephrasings = read_counts(counts)
    y = read_labels(y, *table.shape)
    distances = class_differences(table, n_rephrasings, y)
    partners = np.bincount(y)[y] - (0 if self_pairs else 1)
    return np.clip(1 - ratio(distances, partners), 0, 1)
