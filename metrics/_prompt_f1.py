"""F1 of each rephrasing on its own: the best, the worst and all between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._f1 import macro_f1, micro_f1
from ._inputs import read_labels, read_predictions
from ._options import read_choice

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray


def prompt_f1(
    predictions: ArrayLike,
    y: ArrayLike,
    *,
    average: Literal["micro", "macro"] = "micro",
    labels: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """F1 of each rephrasing; micro-F1 over all labels is its accuracy.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers.
    y : (n_samples,) int
        True labels.
    average, labels
        The F1 to take: `micro_f1` or `macro_f1`, and their labels.

    Returns
    -------
    (n_rephrasings,) float64

    Examples
    --------
    >>> prompt_f1([[0, 0], [1, 0]], [0, 1])
    array([1. , 0.5])
    """
    read_choice(average, "average", ("micro", "macro"))
    predictions = read_predictions(predictions)
    y = read_labels(y, len(predictions))
    if average == "micro" and labels is None:
        return np.asarray((predictions == y[:, None]).mean(axis=0))
    score = micro_f1 if average == "micro" else macro_f1
    return np.array([score(answers[:, None], y, labels) for answers in predictions.T])


def worst_prompt_f1(
    predictions: ArrayLike,
    y: ArrayLike,
    *,
    average: Literal["micro", "macro"] = "micro",
    labels: Sequence[int] | None = None,
) -> float:
    """F1 of the rephrasing that does worst: what an unlucky user gets. Higher is better.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers.
    y : (n_samples,) int
        True labels.
    average, labels
        The F1 to take: `micro_f1` or `macro_f1`, and their labels.

    Returns
    -------
    float
        In [0, 1]. NaN if some rephrasing has no F1, which a list of labels can bring about.

    Examples
    --------
    >>> worst_prompt_f1([[0, 0], [1, 0]], [0, 1])
    0.5
    """
    return float(prompt_f1(predictions, y, average=average, labels=labels).min())
