"""Which rephrasings agree with each other, which contradicts them, and which loses right answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._counts import prediction_counts
from ._inputs import read_counts, read_predictions
from ._prompt_f1 import prompt_f1

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def consistency_rate(counts: ArrayLike) -> float:
    """Share of the pairs of rephrasings that give a sample the same answer. Higher is better.

        CR = 1/N sum_i sum_c n_ic (n_ic - 1) / (Q (Q - 1))

    It needs no labels, and has nothing to do with C_y: that compares samples, this compares answers.

    Parameters
    ----------
    counts : (n_samples, n_classes) int
        Counts of two rephrasings or more. Probabilities are refused: they don't tell how many pairs
        there are.

    Returns
    -------
    float
        In [0, 1]; 1: every sample keeps its answer.

    Examples
    --------
    >>> consistency_rate([[3, 0], [1, 2], [0, 3], [3, 0]])
    0.8333333333333333
    """
    table, n_rephrasings = read_counts(counts)
    if n_rephrasings is None:
        raise ValueError("counts holds probabilities; the consistency rate needs counts (integers)")
    if n_rephrasings < 2:
        raise ValueError("counts has one rephrasing; the consistency rate compares pairs, so give 2 or more")
    shares = table / n_rephrasings
    # in shares, not counts: a small integer dtype would overflow when squared
    equal = np.einsum("ic,ic->", shares, shares) / len(table)
    return float((equal * n_rephrasings - 1) / (n_rephrasings - 1))


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
