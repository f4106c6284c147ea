"""Flips: which two labels a sample changes between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._inputs import read_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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


def sample_flips(counts: ArrayLike) -> NDArray[np.int64]:
    """Name the two labels that each sample changes between: its two most frequent answers.

    Parameters
    ----------
    counts : (n_samples, n_classes) int or float
        Integers: counts. Floats: p_tau.

    Returns
    -------
    (n_samples, 2) int64
        The most frequent label and the next; of equally frequent ones the lower number. -1 in the second
        place: the sample never changes.

    Examples
    --------
    >>> sample_flips([[1, 0, 3], [4, 0, 0]])
    array([[ 2,  0],
           [ 0, -1]])
    """
    table, _ = read_counts(counts)
    everyone = np.arange(len(table))
    most = table.argmax(axis=1)
    others = table.astype(np.float64)  # a copy, signed
    others[everyone, most] = -1
    runner_up = others.argmax(axis=1)
    changes = others[everyone, runner_up] > 0
    return np.stack([most, np.where(changes, runner_up, -1)], axis=1).astype(np.int64)


def flip_pairs(counts: ArrayLike) -> list[FlipPair]:
    """List the pairs of labels that samples change between, the most common first.

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
    flips = sample_flips(counts)
    changing = flips[flips[:, 1] >= 0]
    n_classes = int(flips.max()) + 1
    sizes = np.bincount(changing.min(axis=1) * n_classes + changing.max(axis=1))
    by_size = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    return [
        FlipPair(*divmod(int(pair), n_classes), int(sizes[pair]), float(sizes[pair] / len(flips))) for pair in by_size
    ]
