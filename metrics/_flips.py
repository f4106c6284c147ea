"""Flips: which two labels a sample changes between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._inputs import read_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class FlipPair:
    """Two labels that samples change between.

    Attributes
    ----------
    first, second : int
        The labels, the lower number first.
    n_samples : int
        Samples whose two most frequent answers these are.
    share : float
        n_samples over all samples.
    """

    first: int
    second: int
    n_samples: int
    share: float


def flip_pairs(counts: ArrayLike) -> list[FlipPair]:
    """List the pairs of labels that samples change between, the most common first.

    A sample changes between its two most frequent answers; of equally frequent ones the lower number counts.

    Parameters
    ----------
    counts : (n_samples, n_classes) int or float
        Integers: counts. Floats: p_tau.

    Returns
    -------
    list of FlipPair
        Sorted by n_samples, then by label. Empty if no sample changes.

    Examples
    --------
    >>> for pair in flip_pairs([[1, 0, 3], [3, 0, 1], [0, 2, 2], [4, 0, 0]]):
    ...     print(pair.first, pair.second, pair.n_samples, pair.share)
    0 2 2 0.5
    1 2 1 0.25
    """
    table, _ = read_counts(counts)
    n_samples, n_classes = table.shape
    most = table.argmax(axis=1)
    others = table.astype(np.float64)  # a copy, signed
    others[np.arange(n_samples), most] = -1
    runner_up = others.argmax(axis=1)
    pairs = np.minimum(most, runner_up) * n_classes + np.maximum(most, runner_up)
    sizes = np.bincount(pairs[others.max(axis=1) > 0])
    by_size = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    return [
        FlipPair(pair // n_classes, pair % n_classes, int(sizes[pair]), float(sizes[pair] / n_samples))
        for pair in by_size.tolist()
    ]
