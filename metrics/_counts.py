"""From answers to the table that most measures read: how often each class was answered for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._inputs import read_n_classes, read_predictions, read_probabilities
from ._numerics import row_blocks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def prediction_counts(predictions: ArrayLike, n_classes: int) -> NDArray[np.int64]:
    """Count how often each class was predicted for each sample over the rephrasings.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers in [0, n_classes). By convention the last class is N/A, an answer that names no class.
    n_classes : int
        Number of classes C, N/A included.

    Returns
    -------
    (n_samples, n_classes) int64
        Rows sum to the number of rephrasings Q; a row divided by Q is p_tau(y|x), E25 eq. (2).

    Examples
    --------
    >>> prediction_counts([[0, 0, 1], [2, 2, 2]], n_classes=3)
    array([[2, 1, 0],
           [0, 0, 3]])
    """
    n_classes = read_n_classes(n_classes)
    predictions = read_predictions(predictions, n_classes)
    counts = np.empty((len(predictions), n_classes), dtype=np.int64)
    for rows in row_blocks(*predictions.shape):
        block = predictions[rows]
        first_cell = np.arange(len(block), dtype=np.intp)[:, None] * n_classes
        cells = np.add(block, first_cell, dtype=np.intp, casting="unsafe")  # uint64 does not cast safely to intp
        counts[rows] = np.bincount(cells.ravel(), minlength=len(block) * n_classes).reshape(-1, n_classes)
    return counts


def prediction_distribution(probabilities: ArrayLike) -> NDArray[np.float64]:
    """Average each sample's class probabilities over the rephrasings (E25, eq. (2)).

        p_tau(y|x) = 1/Q sum_q p(y|x, rho_q)

    Every measure that takes ``counts`` also takes this array. It is ``prediction_counts(..) / Q`` for hard predictions.

    Parameters
    ----------
    probabilities : (n_samples, n_rephrasings, n_classes) float
        p(y|x, rho); the last axis sums to 1.

    Returns
    -------
    (n_samples, n_classes) float64

    Examples
    --------
    >>> prediction_distribution([[[0.9, 0.1], [0.5, 0.5]]])
    array([[0.7, 0.3]])
    """
    return np.asarray(read_probabilities(probabilities).mean(axis=1))


def hard_predictions(probabilities: ArrayLike) -> NDArray[np.int64]:
    """Take the most probable class of each answer; on a tie, the first.

    Parameters
    ----------
    probabilities : (n_samples, n_rephrasings, n_classes) float
        p(y|x, rho); the last axis sums to 1.

    Returns
    -------
    (n_samples, n_rephrasings) int64

    Examples
    --------
    >>> hard_predictions([[[0.9, 0.1], [0.4, 0.6]]])
    array([[0, 1]])
    """
    best: NDArray[Any] = read_probabilities(probabilities).argmax(axis=-1)
    return best.astype(np.int64)
