"""Is one prompt better than another on the same samples and rephrasings, and is it chance?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from psopt.evaluation._objectives import OBJECTIVES
from psopt.evaluation._several import combined_differences
from psopt.metrics import PairedDifference, compare_scores, mean_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions

SIGNIFICANT = 0.05  # Fisher's convention, and what the 95 % intervals beside it stand for


def compare_paired(
    first: Predictions, second: Predictions, *, wordings: Literal["random", "fixed"] = "random"
) -> dict[str, PairedDifference]:
    """Test the difference of two prompts on the same samples and rephrasings, second minus first.

    What is tested is what is scored: probabilities where both have them, and in the place of F1 the mean of a metric's
    scores, or of closeness, where answers have such. Keys are ``f1``, ``sensitivity``, and ``consistency`` where C is
    defined. Of several models each is tested, and the one that gains least, or the mean, stands for all.

    Parameters
    ----------
    first, second : Predictions
        On the same samples and rephrasings.
    wordings : "random" or "fixed"
        Whether new rephrasings would be drawn, or only new samples.
    """
    if first.others:
        pairs = zip(first.each, second.each, strict=True)
        return combined_differences([compare_paired(*pair, wordings=wordings) for pair in pairs], first.over)
    if first.answers.open is not None:
        return _compare_open(first, second, wordings)
    differences = compare_scores(
        first.scored,
        second.scored,
        first.truth,
        first.n_classes,
        wordings=wordings,
        similarity=first.answers.similarity,
    )
    if first.quality is None or second.quality is None:
        return differences
    return {**differences, "f1": mean_difference(first.quality, second.quality, wordings=wordings)}


def _compare_open(
    first: Predictions, second: Predictions, wordings: Literal["random", "fixed"]
) -> dict[str, PairedDifference]:
    """Of open answers: quality, S, and C where they are several labels."""
    differences = {
        "f1": mean_difference(
            _known(first.quality),
            _known(second.quality),
            first_weights=first.weights,
            second_weights=second.weights,
            wordings=wordings,
        ),
        "sensitivity": compare_scores(
            first.scored,
            second.scored,
            first.true_classes,
            first.n_classes,
            wordings=wordings,
            similarity=first.similarity,
            second_similarity=second.similarity,
        )["sensitivity"],
    }
    ours, theirs = first.label_rows, second.label_rows
    if ours is not None and theirs is not None and len(ours.labels):
        of_rows = compare_scores(
            ours.said, theirs.said, ours.labels, ours.n_classes, wordings=wordings, groups=ours.samples
        )
        differences["consistency"] = of_rows["consistency"]
    return differences


def _known(quality: NDArray[np.float64] | None) -> NDArray[np.float64]:
    if quality is None:
        raise ValueError("of open answers it is known what each is worth")
    return quality


def verdict(measure: str, difference: PairedDifference | None) -> str:
    """``better``, ``worse`` or ``no difference``, at the 5 % level."""
    if difference is None or difference.p_value >= SIGNIFICANT:
        return "no difference"
    gained = difference.difference > 0
    return "better" if gained == (OBJECTIVES[measure] == "maximize") else "worse"


def holm(p_values: Sequence[float], alpha: float) -> list[tuple[bool, float]]:
    """Say of each of m tests whether it passes, and at which level it was judged.

    The least p-value is held against alpha / m, the next against alpha / (m - 1), and so on; after the first that does
    not pass none does. The chance that any passes whose null hypothesis is true is at most alpha, whatever the order of
    the tests, their number and how they hang together; one test has all of alpha.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 1979.

    Examples
    --------
    >>> holm([0.04, 0.02], 0.05)
    [(True, 0.05), (True, 0.025)]
    >>> holm([0.04, 0.03], 0.05)
    [(False, 0.025), (False, 0.025)]
    """
    judged: dict[int, tuple[bool, float]] = {}
    all_passed = True
    level = alpha / max(1, len(p_values))
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        if all_passed:
            level = alpha / (len(p_values) - rank)
            all_passed = p_values[index] <= level
        judged[index] = (all_passed, level)
    return [judged[index] for index in range(len(p_values))]
