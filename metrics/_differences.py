r"""Sums of |x_i - x_j| over pairs in linear time: what makes consistency exact and fast.

Sort a class's values; F_t of n lie at or below the t-th step from one value to the next. A step of width w_t
is crossed by F_t (n - F_t) unordered pairs, so

    sum_{i<j} |x_i - x_j| = sum_t w_t F_t (n - F_t)

Counts live on the lattice 0 .. Q, where w_t = 1 and F comes from a histogram: O(N C + Q C). Probabilities are
sorted: O(N C log N). Total variation distance is *half* the sum over classes, so that the distances of the
*ordered* pairs sum to the differences of the unordered ones: no factor 2 remains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._blocks import BLOCK_ENTRIES, row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST_HISTOGRAM = 10_000_000  # entries (80 MB); beyond, thousands of classes, sorting is the smaller way


def class_distances(table: NDArray[Any], n_rephrasings: int | None, y: NDArray[Any]) -> NDArray[np.float64]:
    """Sum of the distances over all ordered pairs of each class: (N, C), (N,) -> (C,)."""
    if n_rephrasings is not None and _fits_lattice(table, n_rephrasings):
        return lattice_distances(_class_histograms(table, n_rephrasings, y), n_rephrasings)
    shares = table / (n_rephrasings or 1)
    return np.array([sorted_distances(shares[y == label]) for label in range(table.shape[1])])


def class_differences(table: NDArray[Any], n_rephrasings: int | None, y: NDArray[Any]) -> NDArray[np.float64]:
    """Sum of the distances from each sample to all of its class: (N, C), (N,) -> (N,)."""
    if n_rephrasings is not None and _fits_lattice(table, n_rephrasings):
        from_point = _lattice_differences(_class_histograms(table, n_rephrasings, y), n_rephrasings)
        differences = from_point[y[:, None], np.arange(table.shape[1]), table]
    else:
        shares = table / (n_rephrasings or 1)
        differences = np.empty(table.shape)
        for label in np.unique(y):
            differences[y == label] = _sorted_differences(shares[y == label])
    return np.asarray(differences.sum(axis=1) / 2)


def lattice_distances(histogram: NDArray[Any], n_rephrasings: int) -> NDArray[np.float64]:
    """Sum of the distances over all ordered pairs of a class, from how many have count k in column c.

    Leading axes are free: (.., c, k) -> (..). A sample may weigh any amount in the histogram.
    """
    below = np.cumsum(histogram, axis=-1, dtype=np.float64)
    crossings = below[..., :-1] * (below[..., -1:] - below[..., :-1])
    return np.asarray(crossings.sum(axis=(-2, -1)) / n_rephrasings)


def sorted_distances(shares: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Sum of the distances over all ordered pairs of one class: (.., n, c), weights (.., n) -> (..)."""
    if weights is None:
        ordered = np.sort(shares, axis=-2)
        n = shares.shape[-2]
        crossings = (np.arange(1.0, n) * np.arange(n - 1.0, 0, -1))[:, None]
    else:
        order = np.argsort(shares, axis=-2)
        ordered = np.take_along_axis(shares, order, axis=-2)
        spread = np.broadcast_to(weights[..., None], shares.shape)
        below = np.cumsum(np.take_along_axis(spread, order, axis=-2), axis=-2)
        crossings = below[..., :-1, :] * (below[..., -1:, :] - below[..., :-1, :])
    return np.asarray((np.diff(ordered, axis=-2) * crossings).sum(axis=(-2, -1)))


def _fits_lattice(table: NDArray[Any], n_rephrasings: int) -> bool:
    n_classes: int = table.shape[1]
    return n_classes * n_classes * (n_rephrasings + 1) <= LARGEST_HISTOGRAM


def _class_histograms(counts: NDArray[Any], n_rephrasings: int, y: NDArray[Any]) -> NDArray[np.int64]:
    """How many samples of class y have count k in column c: (C, C, Q + 1), indexed [y, c, k]."""
    n_samples, n_classes = counts.shape
    column = np.arange(n_classes) * (n_rephrasings + 1)
    histogram = np.zeros(n_classes * n_classes * (n_rephrasings + 1), dtype=np.int64)
    for rows in row_blocks(n_samples, n_classes, max(BLOCK_ENTRIES, histogram.size)):
        cells = np.add(counts[rows], column, dtype=np.intp, casting="unsafe")
        cells += y[rows, None].astype(np.intp) * (n_classes * (n_rephrasings + 1))
        histogram += np.bincount(cells.ravel(), minlength=histogram.size)
    return histogram.reshape(n_classes, n_classes, n_rephrasings + 1)


def _lattice_differences(histogram: NDArray[np.int64], n_rephrasings: int) -> NDArray[np.float64]:
    """Sum of |k/Q - x_j| over a class, for every k on the lattice: (y, c, k) -> (y, c, k)."""
    below = np.cumsum(histogram, axis=-1, dtype=np.float64)
    from_zero = (histogram * np.arange(n_rephrasings + 1.0)).sum(axis=-1, keepdims=True)
    # a step up leads away from all that lie below it and towards all others
    steps = 2 * below[..., :-1] - below[..., -1:]
    return np.concatenate([from_zero, from_zero + np.cumsum(steps, axis=-1)], axis=-1) / n_rephrasings


def _sorted_differences(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of |x_i - x_j| over one class, for every i: (n, c) -> (n, c)."""
    n = len(shares)
    order = np.argsort(shares, axis=0)
    ordered = np.take_along_axis(shares, order, axis=0)
    from_first = (ordered - ordered[0]).sum(axis=0)
    steps = np.diff(ordered, axis=0) * (2 * np.arange(1.0, n)[:, None] - n)
    result = np.empty(shares.shape)
    np.put_along_axis(result, order, np.vstack([from_first, from_first + np.cumsum(steps, axis=0)]), axis=0)
    return result
