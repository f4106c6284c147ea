"""F1 of each rephrasing on its own, how far apart they lie, and what rewording costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._f1 import macro_f1, micro_f1
from ._inputs import read_choice, read_labels, read_predictions, read_size

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


def accuracy_std(predictions: ArrayLike, y: ArrayLike, *, ddof: int = 0) -> float:
    """Standard deviation of accuracy over the rephrasings. Lower is better.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers.
    y : (n_samples,) int
        True labels.
    ddof : int
        0: of these rephrasings. 1: estimates that of all rephrasings they were drawn from.

    Returns
    -------
    float
        NaN if there are not more than ddof rephrasings.

    Examples
    --------
    >>> accuracy_std([[0, 0], [1, 0]], [0, 1])
    0.25
    """
    ddof = read_size(ddof, "ddof", least=0)
    accuracies = prompt_f1(predictions, y)
    return float(accuracies.std(ddof=ddof)) if len(accuracies) > ddof else float("nan")


def performance_drop_rate(predictions: ArrayLike, y: ArrayLike) -> float:
    """Relative loss of accuracy from the first prompt to the others. Lower is better.

        PDR = 1 - (1/(Q - 1) sum_{q > 1} acc(rho_q)) / acc(rho_1)

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers; the first rephrasing is the original prompt.
    y : (n_samples,) int
        True labels.

    Returns
    -------
    float
        At most 1; negative if the others do better. NaN without other rephrasings, or if the first prompt is
        never right.

    References
    ----------
    Zhu et al., *PromptRobust (PromptBench)*, 2023: there against an attacked prompt, here against the mean of
    the rephrasings.

    Examples
    --------
    >>> performance_drop_rate([[0, 0, 1], [1, 0, 0]], [0, 1])
    0.75
    """
    first, *others = prompt_f1(predictions, y).tolist()
    if not others or first == 0:
        return float("nan")
    return float(1 - sum(others) / len(others) / first)
