"""The three scores that are read together, because S and C_y alone can be gamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._answers import read_answers
from ._replicates import SCORES, replicate_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def joint_scores(predictions: ArrayLike, y: ArrayLike, n_classes: int) -> dict[str, float]:
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
    answers = read_answers(predictions, y, n_classes)
    n_samples, n_rephrasings, _ = answers.shape
    scores = replicate_scores(answers, np.ones((1, n_samples)), np.ones((1, n_rephrasings)))[0]
    return dict(zip(SCORES, scores.tolist(), strict=True))
