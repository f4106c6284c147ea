"""F1 over all answers and of each rephrasing: without it, S and C_y can be gamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._inputs import read_label_list, read_labels, read_predictions
from ._numerics import mean_of_defined, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


_MOST_CLASSES = 1_000_000  # whose counts fit into 8 MB; of higher numbers only those that occur are counted


def micro_f1(predictions: ArrayLike, y: ArrayLike, labels: Sequence[int] | None = None) -> float:
    """Micro-averaged F1 over all N x Q answers (E25, table 1).

    Over all labels it is the share of right answers, where N/A is wrong: the paper's F1.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers.
    y : (n_samples,) int
        True labels.
    labels : sequence of int, optional
        Count right and wrong answers for these labels only, as `sklearn.metrics.f1_score` does.

    Returns
    -------
    float
        In [0, 1], higher is better. NaN if no label of the list is ever true or predicted.

    Examples
    --------
    >>> micro_f1([[0, 0, 0, 1], [1, 1, 0, 2]], [0, 1])
    0.625
    """
    predictions, y = _read_both(predictions, y)
    if labels is None:
        return float(np.count_nonzero(predictions == y[:, None]) / predictions.size)
    right, wrong = _right_and_wrong(predictions, y, labels)
    return float(_f1(right.sum(), wrong.sum()))


def class_f1(predictions: ArrayLike, y: ArrayLike, labels: Sequence[int] | None = None) -> NDArray[np.float64]:
    """F1 of each label over all N x Q answers.

        F1 = 2 TP / (2 TP + FP + FN)

    Parameters
    ----------
    predictions, y
        As in `micro_f1`.
    labels : sequence of int, optional
        The labels to score, in this order. By default those that occur in y or in predictions, sorted.

    Returns
    -------
    (n_labels,) float64
        NaN for a label that is neither true nor predicted anywhere.

    Examples
    --------
    >>> class_f1([[0, 0], [1, 0]], [0, 1], labels=[0, 1, 2])
    array([0.8       , 0.66666667,        nan])
    """
    return _f1(*_right_and_wrong(*_read_both(predictions, y), labels))


def macro_f1(predictions: ArrayLike, y: ArrayLike, labels: Sequence[int] | None = None) -> float:
    """Mean of the labels' F1 over all N x Q answers.

    Parameters
    ----------
    predictions, y
        As in `micro_f1`.
    labels : sequence of int, optional
        A fixed list makes runs comparable; ``range(n_classes - 1)`` leaves N/A's own F1 (always 0) out of the mean. By
        default the labels that occur in y or in predictions, as in `sklearn.metrics.f1_score`.

    Returns
    -------
    float
        In [0, 1], higher is better. A listed label that is neither true nor predicted has no F1 and is
        left out (scikit-learn: ``zero_division=np.nan``); NaN if that leaves none.

    Examples
    --------
    >>> macro_f1([[0, 0], [1, 1]], [0, 1], labels=[0, 1, 2])
    1.0
    """
    return mean_of_defined(class_f1(predictions, y, labels))


def _read_both(predictions: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    predictions = read_predictions(predictions)
    return predictions, read_labels(y, len(predictions))


def _right_and_wrong(
    predictions: NDArray[Any], y: NDArray[Any], labels: Sequence[int] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """TP, and FP + FN, of each listed label, or of each that occurs."""
    listed: NDArray[Any] = np.arange(0)
    if labels is not None:
        listed = read_label_list(labels)
    if max(predictions.max(), y.max(), listed.max(initial=0)) > _MOST_CLASSES:  # such as hashed names
        classes = np.unique(np.concatenate([predictions.ravel(), y, listed]))
        predictions, y, listed = (np.searchsorted(classes, numbers) for numbers in (predictions, y, listed))
    n_classes = 1 + int(max(predictions.max(), y.max(), listed.max(initial=0)))
    hits = np.count_nonzero(predictions == y[:, None], axis=1)
    right = np.bincount(y, weights=hits, minlength=n_classes)
    true = np.bincount(y, minlength=n_classes) * predictions.shape[1]
    predicted = np.bincount(predictions.ravel().astype(np.intp, copy=False), minlength=n_classes)
    if labels is None:
        listed = np.flatnonzero(true + predicted)
    return right[listed], (true + predicted - 2 * right)[listed]


def _f1(right: ArrayLike, wrong: ArrayLike) -> NDArray[np.float64]:
    twice = 2 * np.asarray(right)
    return ratio(twice, twice + wrong)


def prompt_f1(predictions: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Micro-F1 of each rephrasing over all labels, which is its accuracy.

    Parameters
    ----------
    predictions, y
        As in `micro_f1`.

    Returns
    -------
    (n_rephrasings,) float64

    Examples
    --------
    >>> prompt_f1([[0, 0], [1, 0]], [0, 1])
    array([1. , 0.5])
    """
    predictions, y = _read_both(predictions, y)
    return np.asarray((predictions == y[:, None]).mean(axis=0))


def spread(predictions: ArrayLike, y: ArrayLike) -> float:
    """Accuracy of the best rephrasing minus that of the worst. Lower is better.

    Sclar et al., *Quantifying Language Models' Sensitivity to Spurious Features in Prompt Design* (FormatSpread), 2024.

    Parameters
    ----------
    predictions, y
        As in `prompt_f1`.

    Returns
    -------
    float
        In [0, 1]; 0 for a single rephrasing. It grows with the number of rephrasings. Samples that change in opposite
        directions cancel out; S_tau detects them.

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
    predictions, y
        As in `prompt_f1`, with at least two rephrasings.

    Returns
    -------
    (n_rephrasings,) float64
        In [-1, 1]; they sum to 0. The rephrasing with the largest hurts most: ``argmax`` finds it.

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
