"""Is one prompt better than another on the same samples and rephrasings, and is it chance?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from psopt.metrics import PairedDifference, compare_scores, mean_difference, paired_test

if TYPE_CHECKING:
    from psopt.evaluation._predictions import Predictions

OBJECTIVES: dict[str, Literal["maximize", "minimize"]] = {
    "f1": "maximize",
    "sensitivity": "minimize",
    "consistency": "maximize",
}
SIGNIFICANT = 0.05  # Fisher's convention, and what the 95 % intervals beside it stand for


Method = Literal["linearised", "bootstrap"]
"""Intervals and tests by linearisation over samples and jackknife over wordings, or by a bootstrap over both."""


def compare_paired(
    first: Predictions,
    second: Predictions,
    seed: int = 42,
    *,
    method: Method = "linearised",
    wordings: Literal["random", "fixed"] = "random",
) -> dict[str, PairedDifference]:
    """Test the difference of two prompts on the same samples and rephrasings, second minus first.

    What is tested is what is scored: probabilities where both have them, and in the place of F1 the mean of a metric's
    scores, or of closeness, where answers have such. Keys are ``f1``, ``sensitivity``, ``consistency``.

    Parameters
    ----------
    first, second : Predictions
        On the same samples and rephrasings.
    seed : int
        Of the bootstrap.
    method : "linearised" or "bootstrap"
        See `psopt.metrics.compare_scores`, and `psopt.metrics.paired_test`. The mean of a metric's scores is linear: it
        needs no bootstrap.
    wordings : "random" or "fixed"
        Whether new rephrasings would be drawn, or only new samples.
    """
    similarity = first.answers.similarity
    if method == "bootstrap":
        resample: Literal["both", "samples"] = "samples" if wordings == "fixed" else first.resample
        differences = paired_test(
            first.scored,
            second.scored,
            first.truth,
            first.n_classes,
            resample=resample,
            seed=seed,
            similarity=similarity,
        )
    else:
        differences = compare_scores(
            first.scored, second.scored, first.truth, first.n_classes, wordings=wordings, similarity=similarity
        )
    if first.quality is None or second.quality is None:
        return differences
    return {**differences, "f1": mean_difference(first.quality, second.quality, wordings=wordings)}


def verdict(measure: str, difference: PairedDifference | None) -> str:
    """``better``, ``worse`` or ``no difference``, at the 5 % level."""
    if difference is None or difference.p_value >= SIGNIFICANT:
        return "no difference"
    gained = difference.difference > 0
    return "better" if gained == (OBJECTIVES[measure] == "maximize") else "worse"
