"""From a model's evidence for each label to scores of the labels, learnt from labelled texts of the task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RIDGE = 3.0  # on val of TREC, CB and sentences on products F1 is about as good from 1 to 10; see docs/decisions.md


def fit_label_map(evidence: NDArray[np.float64], truth: NDArray[np.int64]) -> NDArray[np.float64]:
    """Fit scores that are an affine function of the evidence: (n, C) and labels in [0, C) to a map, (C + 1, C).

    Multinomial logistic regression, held near the map that leaves the evidence as it is, so that few texts change
    little. Its last row is added to all (supervised calibration, arXiv 2505.23783, is of this kind).

    Examples
    --------
    The first label gets twice the evidence that it should:

    >>> evidence = np.array([[1.0, 0.0], [0.5, 0.0], [-1.0, 0.0], [0.5, 0.0]])
    >>> label_map = fit_label_map(np.repeat(evidence, 25, axis=0), np.repeat([0, 1, 1, 1], 25))
    >>> scores_by(label_map, evidence).argmax(axis=1)
    array([0, 1, 1, 1])
    """
    n, n_labels = evidence.shape
    given = np.hstack([evidence, np.ones((n, 1))])
    start = identity_map(n_labels)
    target = np.eye(n_labels)[truth]

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        away = flat.reshape(start.shape) - start
        scores = given @ (start + away)
        scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
        gradient = given.T @ (np.exp(scores) - target) + 2 * _RIDGE * away
        return float(-(scores * target).sum() + _RIDGE * (away**2).sum()), gradient.ravel()

    best = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B").x
    return np.asarray(best.reshape(start.shape))


def identity_map(n_labels: int) -> NDArray[np.float64]:
    """The map that leaves evidence as it is, (C + 1, C)."""
    return np.vstack([np.eye(n_labels), np.zeros((1, n_labels))])


def scores_by(label_map: NDArray[np.float64], evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """The labels' scores, (n, C)."""
    return np.asarray(evidence @ label_map[:-1] + label_map[-1])
