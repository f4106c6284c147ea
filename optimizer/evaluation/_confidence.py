"""How sure the model was of what it answered, and whether it was less sure where its answers change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions

CONFIDENCE = "confidence"
CONFIDENCE_AGAINST_S = "confidence against S"
_DIGITS = 12  # what differs less is equal: sums of the same numbers in another order must not get ranks of their own


def confidence_measures(predictions: Predictions) -> dict[str, float | None]:
    """Return the decoded confidence of open answers (P24), and how it goes with S; empty where nobody asked for it.

    Parameters
    ----------
    predictions : Predictions
        With `confidence`: of each answer the mean probability of its tokens.

    Returns
    -------
    dict of name to float or None
        ``confidence``: the mean over the answers of which it is known, in [0, 1]. ``confidence against S``: Spearman's
        rank correlation, over samples, of their mean confidence and their S, in [-1, 1]: below 0 where the answers
        that change are those that the model was less sure of. None where nothing is known, or either does not vary.
    """
    if predictions.confidence is None:
        return {}
    is_known = ~np.isnan(predictions.confidence)
    n_known = is_known.sum(axis=1)
    sums = np.where(is_known, predictions.confidence, 0.0).sum(axis=1)
    rows = np.flatnonzero(n_known)
    mean = float(sums.sum() / n_known.sum()) if len(rows) else None
    against = _rank_correlation(sums[rows] / n_known[rows], predictions.sensitivities[rows])
    return {CONFIDENCE: mean, CONFIDENCE_AGAINST_S: against}


def _rank_correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Spearman's, equal values of a mean rank; None where either does not vary."""
    from scipy.stats import spearmanr  # costs .8 s to import: where it is needed

    first, second = first.round(_DIGITS), second.round(_DIGITS)
    if len(np.unique(first)) <= 1 or len(np.unique(second)) <= 1:
        return None
    return float(spearmanr(first, second).statistic)
