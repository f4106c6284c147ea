"""Consistency: whether samples of one class get the same answers. It needs labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

from ._inputs import read_choice, read_counts, read_labels
from ._numerics import class_differences, class_distances, mean_of_defined, ratio

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray


@overload
def consistency(
    counts: ArrayLike, y: ArrayLike, average: Literal["pooled", "macro"] = "pooled", *, self_pairs: bool = True
) -> float: ...
@overload
def consistency(counts: ArrayLike, y: ArrayLike, average: None, *, self_pairs: bool = ...) -> NDArray[np.float64]: ...
def consistency(
    counts: ArrayLike, y: ArrayLike, average: Literal["pooled", "macro"] | None = "pooled", *, self_pairs: bool = True
) -> float | NDArray[np.float64]:
    r"""Consistency C_y (E25, eqs. (5) to (7)): one minus the mean distance of the answers to two samples of a class.

        C_y = 1/|D_y|^2 sum_{x, x' in D_y} 1 - TVD(p_tau(.|x), p_tau(.|x'))

    Linear in the samples: O(N C + Q C) for counts, O(N C log N) for probabilities; it equals the mean of
    `pairwise_consistency` exactly.

    Parameters
    ----------
    counts : (n_samples, n_classes) int or float
        Integers: counts, from `prediction_counts`. Floats: p_tau, from `prediction_distribution`. N/A's mass
        is part of the distance.
    y : (n_samples,) int
        True labels in [0, n_classes).
    average : "pooled", "macro" or None
        "pooled" (the paper's table 1): over all pairs of all classes, so a class weighs \|D_y\|². "macro": the mean
        over the classes that have a value. None: one value per class.
    self_pairs : bool
        Count a sample's pair with itself (the paper's convention) or leave it out.

    Returns
    -------
    float, or (n_classes,) float64 if average is None
        In [0, 1], higher is better. NaN where there is no pair: a class without samples and, without self-pairs, a
        class with a single sample (with self-pairs it has 1). An average over no value is NaN.

    Examples
    --------
    Both samples of class 0 agree; those of class 1 agree only with themselves.

    >>> counts = [[4, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4]]
    >>> consistency(counts, [0, 0, 1, 1])
    0.75
    >>> consistency(counts, [0, 0, 1, 1], average=None)
    array([1. , 0.5, nan])
    >>> consistency(counts, [0, 0, 1, 1], average="macro", self_pairs=False)
    0.5
    """
    read_choice(average, "average", ("pooled", "macro", None))
    table, n_rephrasings = read_counts(counts)
    y = read_labels(y, *table.shape)
    distances = class_distances(table, n_rephrasings, y)
    sizes = np.bincount(y, minlength=table.shape[1]).astype(np.float64)
    pairs = sizes * (sizes - int(not self_pairs))
    if average == "pooled":
        distances, pairs = distances.sum(), pairs.sum()
    values = np.clip(1 - ratio(distances, pairs), 0, 1)  # only rounding exceeds the ends
    if average is None:
        return values
    return mean_of_defined(values)


def sample_consistency(counts: ArrayLike, y: ArrayLike, *, self_pairs: bool = True) -> NDArray[np.float64]:
    """Mean consistency of each sample with its own class (E25, eq. (6)): appendices A and C sort by it.

        C(x) = 1/|D_y| sum_{x' in D_y} 1 - TVD(p_tau(.|x), p_tau(.|x'))

    As fast as `consistency`, which is its mean over a class.

    Parameters
    ----------
    counts, y, self_pairs
        As in `consistency`.

    Returns
    -------
    (n_samples,) float64
        In [0, 1]. Low: unlike its class. The only sample of a class has 1, or NaN without self-pairs.

    Examples
    --------
    >>> sample_consistency([[4, 0], [2, 2], [4, 0]], [0, 0, 0], self_pairs=False)
    array([0.75, 0.5 , 0.75])
    """
    table, n_rephrasings = read_counts(counts)
    y = read_labels(y, *table.shape)
    distances = class_differences(table, n_rephrasings, y)
    partners = np.bincount(y)[y] - int(not self_pairs)
    return np.clip(1 - ratio(distances, partners), 0, 1)


def pairwise_consistency(counts: ArrayLike) -> NDArray[np.float64]:
    """Consistency of every pair of samples: one minus their total variation distance (E25, eqs. (5) and (6)).

        C(x, x') = 1 - 1/2 sum_c |p_tau(c|x) - p_tau(c|x')|

    Parameters
    ----------
    counts : (n, n_classes) int or float
        The samples of *one* class (``counts[y == label]``). Integers: counts. Floats: p_tau.

    Returns
    -------
    (n, n) float64
        Symmetric, in [0, 1], ones on the diagonal. Memory grows with n²; its mean comes from `consistency`.

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
