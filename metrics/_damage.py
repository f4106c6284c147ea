"""Damage: which rephrasing loses right answers, and which one contradicts the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._counts import prediction_counts
from ._inputs import read_predictions
from ._prompt_f1 import prompt_f1

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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
        In [-1, 1]; they sum to 0. The largest does most damage: ``argmax`` names it.

    Examples
    --------
    >>> rephrasing_damage([[0, 0, 1], [1, 1, 1]], [0, 1])
    array([-0.25, -0.25,  0.5 ])
    """
    accuracies = prompt_f1(_read_several(predictions), y)
    n = len(accuracies)
    return np.asarray((accuracies.mean() - accuracies) * n / (n - 1))


def rephrasing_disagreement(predictions: ArrayLike) -> NDArray[np.float64]:
    """Share of the other rephrasings' answers that each rephrasing contradicts. It needs no labels.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers. Two rephrasings or more.

    Returns
    -------
    (n_rephrasings,) float64
        In [0, 1]; their mean is one minus `consistency_rate`. The largest stands most alone.

    Examples
    --------
    >>> rephrasing_disagreement([[0, 0, 1], [1, 1, 1]])
    array([0.25, 0.25, 0.5 ])
    """
    answers = _read_several(predictions)
    counts = prediction_counts(answers, max(2, int(answers.max()) + 1))
    agreeing = np.take_along_axis(counts, answers.astype(np.intp), axis=1).mean(axis=0) - 1
    return np.asarray(1 - agreeing / (answers.shape[1] - 1))


def _read_several(predictions: ArrayLike) -> NDArray[Any]:
    answers = read_predictions(predictions)
    if answers.shape[1] < 2:
        raise ValueError("predictions has one rephrasing; none to compare it with: give 2 or more")
    return answers
