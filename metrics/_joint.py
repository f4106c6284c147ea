"""The three scores that are read together, because S and C_y alone can be gamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._answers import read_either
from ._consistency import consistency
from ._counts import prediction_counts
from ._f1 import micro_f1
from ._inputs import read_labels
from ._sensitivity import sensitivity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def joint_scores(
    predictions: ArrayLike, y: ArrayLike, n_classes: int, *, similarity: ArrayLike | None = None
) -> dict[str, float]:
    """Micro-F1, sensitivity and pooled consistency: the point on the front.

    A constant answer has S = 0 and C_y = 1, a random one S near 1 and C_y near 1: only F1 unmasks them.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int, or (n_samples, n_rephrasings, n_classes) float
        Class numbers in [0, n_classes), N/A last; or probabilities, of which F1 takes the largest.
    y : (n_samples,) int
        True labels in [0, n_classes).
    n_classes : int
        Number of classes C, N/A included.
    similarity : (n_classes, n_classes) float, or (n_samples, n_classes, n_classes) float, optional
        Of S, as in `sample_sensitivity`.

    Returns
    -------
    dict of str to float
        Keys ``f1``, ``sensitivity``, ``consistency``: what `micro_f1`, `sensitivity`, `consistency` give.

    References
    ----------
    E25, table 1.

    Examples
    --------
    >>> joint_scores([[0, 0], [0, 0]], [0, 1], n_classes=2)
    {'f1': 0.5, 'sensitivity': 0.0, 'consistency': 1.0}
    """
    chosen, probabilities = read_either(predictions, n_classes)
    y = read_labels(y, len(chosen), n_classes)
    table = prediction_counts(chosen, n_classes) if probabilities is None else probabilities.mean(axis=1)
    return {
        "f1": micro_f1(chosen, y),
        "sensitivity": sensitivity(table, similarity=similarity),
        "consistency": consistency(table, y),
    }
