"""What prompts are compared by: F1, S and C as gains; is one better on the same samples, or is it chance?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from psopt.metrics import PairedDifference, compare_scores, mean_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.answers import AnswerType
    from psopt.evaluation._predictions import Predictions
    from psopt.settings import Over

    Direction = Literal["maximize", "minimize"]

OBJECTIVES: dict[str, Direction] = {"f1": "maximize", "sensitivity": "minimize", "consistency": "maximize"}


class Objectives(Protocol):
    """Measured or estimated scores that have the objectives; C is None where it is not defined."""

    @property
    def f1(self) -> float: ...
    @property
    def sensitivity(self) -> float: ...
    @property
    def consistency(self) -> float | None: ...


def objectives_of(answers: AnswerType) -> dict[str, Direction]:
    """Return the objectives that this type of answer has: without classes there is no C."""
    return {name: way for name, way in OBJECTIVES.items() if name != "consistency" or answers.has_consistency}


def measure_names(quality: str) -> dict[str, str]:
    """Return what screens and pages call the objectives, by their keys; `quality` replaces F1."""
    return {"f1": quality, "sensitivity": "S", "consistency": "C"}


def objective_values(scores: Objectives | Mapping[str, Any]) -> dict[str, float]:
    """Return the defined objectives by name, in the order of `OBJECTIVES`; also accepts run.json's data.

    >>> objective_values({"f1": 0.8, "sensitivity": 0.1, "consistency": None, "na_rate": 0.0})
    {'f1': 0.8, 'sensitivity': 0.1}
    """
    if not isinstance(scores, Mapping):
        scores = {name: getattr(scores, name) for name in OBJECTIVES}
    return {name: scores[name] for name in OBJECTIVES if scores[name] is not None}


def objective_gains(scores: Objectives | Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the defined objectives, all to be maximised: F1, -S and C."""
    return np.array([sign_of(name) * value for name, value in objective_values(scores).items()])


def sign_of(objective: str) -> int:
    """What turns an objective into a gain."""
    return 1 if OBJECTIVES[objective] == "maximize" else -1


SIGNIFICANT = 0.05  # Fisher's convention, matching the 95 % intervals shown next to it


def compare_paired(
    first: Predictions, second: Predictions, *, wordings: Literal["random", "fixed"] = "random"
) -> dict[str, PairedDifference]:
    """Test the difference of two prompts on the same samples and rephrasings, second minus first.

    The test uses what is scored. Keys are ``f1`` (or the quality that replaces it), ``sensitivity``, and
    ``consistency`` where C is defined. Of several models the one that gains least, or the mean, represents all.
    `wordings` as in `psopt.metrics.score_intervals`.
    """
    if first.others:
        pairs = zip(first.each, second.each, strict=True)
        return combined_differences([compare_paired(*pair, wordings=wordings) for pair in pairs], first.over)
    differences = compare_scores(
        first.scored,
        second.scored,
        first.true_classes,
        first.n_classes,
        wordings=wordings,
        similarity=first.similarity,
        second_similarity=second.similarity,
    )
    if first.quality is not None and second.quality is not None:
        differences["f1"] = mean_difference(
            first.quality, second.quality, first_weights=first.weights, second_weights=second.weights, wordings=wordings
        )
    if first.answers.open is not None:
        del differences["consistency"]
        before, after = first.label_rows, second.label_rows
        if before is not None and after is not None and len(before.labels):
            of_rows = compare_scores(
                before.said, after.said, before.labels, before.n_classes, wordings=wordings, groups=before.samples
            )
            differences["consistency"] = of_rows["consistency"]
    return differences


def combined_differences(
    of_models: Sequence[Mapping[str, PairedDifference]], over: Over
) -> dict[str, PairedDifference]:
    """Combine the differences of two prompts with several models: that of the model that gains least, or the mean."""
    combined = {}
    for name in of_models[0]:
        differences = [of_measures[name] for of_measures in of_models]
        if over == "mean":
            combined[name] = mean_of(differences)
            continue
        gains = [sign_of(name) * paired.difference for paired in differences]
        combined[name] = differences[int(np.argmin(gains))]
    return combined


def mean_of(differences: Sequence[PairedDifference]) -> PairedDifference:
    """Return the mean of differences on the same samples, whose correlation need not be known.

    The standard error of a mean is at most the mean of the standard errors, whatever the correlation (Minkowski), so
    intervals and tests are conservative. It is unknown if any of them is, and thin if any of them is.
    """
    errors = [paired.standard_error for paired in differences if paired.standard_error is not None]
    freedom = [paired.df for paired in differences if paired.df is not None]
    thin = [paired.thin for paired in differences if paired.thin is not None]
    middle, low, high = np.mean([(of.difference, of.low, of.high) for of in differences], axis=0).tolist()
    error = float(np.mean(errors)) if len(errors) == len(differences) else None
    mean = PairedDifference(middle, low, high, 1.0, error, min(freedom, default=None), min(thin, default=None))
    return replace(mean, p_value=min(1.0, 2 * min(mean.p_above(), mean.p_below())))


def verdict(measure: str, difference: PairedDifference | None) -> str:
    """``better``, ``worse`` or ``no difference``, at the 5 % level."""
    if difference is None or difference.p_value >= SIGNIFICANT:
        return "no difference"
    return "better" if sign_of(measure) * difference.difference > 0 else "worse"


def holm(p_values: Sequence[float], alpha: float) -> list[tuple[bool, float]]:
    """Return for each of m tests whether it passes, and at which level it was judged.

    The smallest p-value is compared with alpha / m, the next with alpha / (m - 1), and so on; after the first that
    fails none passes. The chance that any test passes whose null hypothesis is true is at most alpha, whatever their
    dependence (Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics
    1979).

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
