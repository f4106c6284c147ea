"""S against mean consistency, sample by sample, with what noise would give (E25, appendix A and figure 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation import OBJECTIVES
from psopt.metrics import joint_scores, reference_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.evaluation import Predictions

_SHARES = (0.5, 0.8, 0.9)
_ROUNDING = 1e-12  # a sum that reaches a share but for rounding has reached it


@dataclass(frozen=True)
class JointView:
    """Where each sample stands, and where a half-noised and a random predictor would."""

    # Of each sample, in the predictions' order; consistency is its mean over its class
    sensitivity: tuple[float, ...]
    consistency: tuple[float, ...]
    # F1, sensitivity and consistency of ``predictor``, ``half_noised`` and ``random``
    references: dict[str, dict[str, float]]


def joint_view(predictions: Predictions) -> JointView | None:
    """Return the joint view; None without labels, and where samples were asked under unequally many rephrasings."""
    if not predictions.is_labelled or not predictions.is_whole:
        return None
    found = reference_scores(predictions.array, predictions.truth, predictions.n_classes)
    references = {name: {measure: getattr(of, measure) for measure in OBJECTIVES} for name, of in found.items()}
    if predictions.probabilities is not None:  # which are what is scored; noise is compared by answers
        references["predictor"] = joint_scores(predictions.probabilities, predictions.truth, predictions.n_classes)
    return JointView(
        tuple(predictions.sensitivities.tolist()),
        tuple(predictions.consistencies.tolist()),
        references,
    )


def carried_by(sensitivities: Sequence[float]) -> dict[str, int]:
    """How few samples carry half, 80 % and 90 % of the whole S: the fewest whose S sums to so much of the total.

    It says how many samples to look at, or to label first. All 0 where every sample is stable.

    >>> carried_by([0.0, 0.6, 0.2, 0.2])
    {'50%': 1, '80%': 2, '90%': 3}
    """
    ordered = np.sort(np.asarray(sensitivities, dtype=float))[::-1]
    total = ordered.sum()
    summed = np.cumsum(ordered)
    return {
        f"{100 * share:.0f}%": int(np.searchsorted(summed, share * total - _ROUNDING) + 1) if total else 0
        for share in _SHARES
    }
