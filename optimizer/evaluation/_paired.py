"""Is one prompt better than another on the same samples and rephrasings, and is it chance?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from psopt.evaluation._mean_scores import paired_means
from psopt.metrics import PairedDifference, paired_test

if TYPE_CHECKING:
    from psopt.evaluation._predictions import Predictions

OBJECTIVES: dict[str, Literal["maximize", "minimize"]] = {
    "f1": "maximize",
    "sensitivity": "minimize",
    "consistency": "maximize",
}
SIGNIFICANT = 0.05  # Fisher's convention, and what the 95 % intervals beside it stand for


def compare_paired(first: Predictions, second: Predictions, seed: int = 42) -> dict[str, PairedDifference]:
    """Test the difference of two prompts on the same samples and rephrasings, second minus first.

    What is tested is what is scored: probabilities where both have them, and in the place of F1 the mean of a metric's
    scores where answers have such. Keys are ``f1``, ``sensitivity``, ``consistency``; see `psopt.metrics.paired_test`.
    """
    differences = paired_test(
        first.scored, second.scored, first.truth, first.n_classes, resample=first.resample, seed=seed
    )
    if first.metric_scores is None or second.metric_scores is None:
        return differences
    return {**differences, "f1": paired_means(first.metric_scores, second.metric_scores, seed)}


def verdict(measure: str, difference: PairedDifference | None) -> str:
    """``better``, ``worse`` or ``no difference``, at the 5 % level."""
    if difference is None or difference.p_value >= SIGNIFICANT:
        return "no difference"
    gained = difference.difference > 0
    return "better" if gained == (OBJECTIVES[measure] == "maximize") else "worse"
