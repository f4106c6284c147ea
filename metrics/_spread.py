"""Spread of accuracy over prompts: the format-sensitivity view of the same predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._options import read_size
from ._prompt_f1 import prompt_f1

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
