"""F1 of each rephrasing on its own, how far apart they lie, and which of them loses right answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._inputs import read_labels, read_predictions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def prompt_f1(predictions: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Micro-F1 of each rephrasing: over all labels its accuracy.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers.
    y : (n_samples,) int
        True labels.

    Returns
    -------
    (n_rephrasings,) float64

    Examples
    --------
    >>> prompt_f1([[0, 0], [1, 0]], [0, 1])
    array([1. , 0.5])
    """
    predictions = read_predictions(predictions)
    y = read_labels(y, len(predictions))
    return np.asarray((predictions == y[:, None]).mean(axis=0))


def spread(predictions: ArrayLike, y: ArrayLike) -> float:
    """Accuracy of the best rephrasing minus that of the worst. Lower is better.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers.
    y : (n_samples,) int
        True labels.

    Returns
    -------
    float
        In [0, 1]; 0 for a single rephrasing. It grows with the number of rephrasings. Samples that change in
        opposite directions cancel out: S_tau sees them.

    References
    ----------
    Sclar et al., *Quantifying Language Models' Sensitivity to Spurious Features in Prompt Design*
    (FormatSpread), 2024.

    Examples
    --------
    >>> spread([[0, 0, 1], [1, 0, 0]], [0, 1])
    1.0
    """
    accuracies = prompt_f1(predictions, y)
    return float(accuracies.max() - accuracies.min())


def rephrasing_damage(predictions: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Accuracy that each rephrasing loses against the mean of the others.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers. Two rephrasings or more.
    y : (n_samples,) int
        True labels.

    Returns
    -------
    (n_rephrasings,) float64
        In [-1, 1]; they sum to 0. The largest hurts most: ``argmax`` names it.

    Examples
    --------
    >>> rephrasing_damage([[0, 0, 1], [1, 1, 1]], [0, 1])
    array([-0.25, -0.25,  0.5 ])
    """
    accuracies = prompt_f1(predictions, y)
    n = len(accuracies)
    if n < 2:
        raise ValueError("predictions has one rephrasing; none to compare it with: give 2 or more")
    return np.asarray((accuracies.mean() - accuracies) * n / (n - 1))
