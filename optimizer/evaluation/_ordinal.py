"""What is asked of ordered labels beside closeness: F1 and S as if they had no order, distance, and agreement."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.metrics import micro_f1, sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions


@dataclass(frozen=True, slots=True)
class OrdinalScores:
    """Scores of ordered labels."""

    micro_f1: float  # the share of answers that are exactly right
    nominal_sensitivity: float  # S_tau of E25, which counts a near answer as any other
    # How far answers that name a label are from the truth, on the labels' scale; None where none does
    mean_distance: float | None
    # Cohen's kappa of these with quadratic weights of the labels' ranks, at most 1; None where it is not defined
    quadratic_kappa: float | None


def ordinal_scores(predictions: Predictions) -> OrdinalScores | None:
    """Score ordered labels; None of labels that have no order."""
    positions = np.array(predictions.answers.positions)
    if not len(positions):
        return None
    truth = np.broadcast_to(predictions.truth[:, None], predictions.array.shape)
    is_read = predictions.asked & (predictions.array < len(positions))
    answered, true = predictions.array[is_read], truth[is_read]
    return OrdinalScores(
        micro_f1=micro_f1(predictions.array, predictions.truth),
        nominal_sensitivity=sensitivity(predictions.p_tau),
        mean_distance=float(np.abs(positions[answered] - positions[true]).mean()) if len(answered) else None,
        quadratic_kappa=_kappa(true, answered, len(positions)),
    )


def _kappa(true: NDArray[np.int64], answered: NDArray[np.int64], n_labels: int) -> float | None:
    from sklearn.metrics import cohen_kappa_score

    if not len(true):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one label alone it is 0 / 0, and NaN says so
        kappa = float(cohen_kappa_score(true, answered, labels=range(n_labels), weights="quadratic"))
    return None if np.isnan(kappa) else kappa


def ordinal_line(*measured: OrdinalScores) -> str:
    """Say what stands beside closeness and S: of one prompt, or of two with an arrow between.

    Examples
    --------
    >>> from dataclasses import replace
    >>> seed = OrdinalScores(micro_f1=0.16, nominal_sensitivity=0.256, mean_distance=1.85, quadratic_kappa=None)
    >>> ordinal_line(seed)
    'exactly right 16.0 %, S without the order 25.6 %, mean distance 1.85, quadratic kappa –'
    >>> ordinal_line(seed, replace(seed, micro_f1=0.47)).partition(",")[0]
    'exactly right 16.0 -> 47.0 %'
    """

    def each(name: str, times: float = 1, digits: int = 2) -> str:
        values = [getattr(scores, name) for scores in measured]
        return " -> ".join("–" if value is None else f"{times * value:.{digits}f}" for value in values)

    return (
        f"exactly right {each('micro_f1', 100, 1)} %, S without the order {each('nominal_sensitivity', 100, 1)} %, "
        f"mean distance {each('mean_distance')}, quadratic kappa {each('quadratic_kappa')}"
    )
