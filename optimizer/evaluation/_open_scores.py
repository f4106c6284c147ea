"""Further measures of answers other than one label: of ordered labels, and of open answers.

For these, quality replaces F1, S counts which answers are the same or alike, and C needs labels.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import BAND, AnswerType, text_of
from psopt.metrics import mean_difference, micro_f1, prompt_sensi_score, sensitivity
from psopt.tasks import EMBEDDING, FREE, LABELS, NUMBER, TEXT, TOKEN_F1, AnswerSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from psopt.evaluation._label_rows import LabelRows
    from psopt.evaluation._predictions import Predictions
    from psopt.metrics import PairedDifference


_CONFIDENCE = "confidence"
_CONFIDENCE_AGAINST_S = "confidence against S"
_DIGITS = 12  # smaller differences are equal: sums of the same numbers in another order must share a rank
# Measures that are not shares, and their formats.
NO_SHARES = {
    "mean absolute error": ".4g",
    _CONFIDENCE_AGAINST_S: "+.2f",
    "mean distance": ".2f",
    "quadratic kappa": ".2f",
}


@dataclass(frozen=True, slots=True)
class OpenScores:
    """Further measures of open answers."""

    quality_name: str  # what replaces F1
    # For several labels ``subset accuracy`` and ``S of equal sets``; for numbers ``mean absolute error``; for texts
    # ``exact match``; for free answers S at other thresholds; for all ``PSS`` (P24), the spread of quality over a
    # sample's answers; where log-probabilities were asked for, ``confidence`` and ``confidence against S``
    # (`_confidence_measures`). None if no answer could be read.
    measures: dict[str, float | None] = field(default_factory=dict)


def open_scores(predictions: Predictions) -> OpenScores | None:
    """Return the further measures; None for single labels."""
    rule, kind = predictions.answers.open, predictions.answers.spec.kind
    if rule is None:
        return None
    measures: dict[str, float | None] = {}
    if kind == LABELS:
        measures["subset accuracy"] = float(predictions.right[predictions.asked].mean())
        measures["S of equal sets"] = sensitivity(predictions.p_tau)
    elif kind == NUMBER:
        measures["mean absolute error"] = _mean_absolute_error(predictions)
    elif kind == FREE and predictions.same is None:
        measures |= _band(predictions)
    elif kind == TEXT and predictions.answers.spec.detail == TOKEN_F1:
        by_form = replace(predictions, answers=AnswerType(spec=AnswerSpec(TEXT)), metric_scores=None)
        measures["exact match"] = float(by_form.right[predictions.asked].mean())
    quality = predictions.quality
    if quality is not None and predictions.has_pairs:
        measures["PSS"] = prompt_sensi_score(quality)
    measures |= _confidence_measures(predictions)
    return OpenScores(predictions.answers.quality_name, {**measures, **(predictions.judge_measures or {})})


@dataclass(frozen=True, slots=True)
class OrdinalScores:
    """Scores of ordered labels."""

    micro_f1: float  # the share of answers that are exactly right
    nominal_sensitivity: float  # S_tau of E25, which counts a near answer like any other
    mean_distance: float | None  # from the truth, on the labels' scale, of answers that name a label; None if none does
    quadratic_kappa: float | None  # Cohen's kappa of these, weighted by the labels' ranks, at most 1; None if undefined


def ordinal_scores(predictions: Predictions) -> OrdinalScores | None:
    """Score ordered labels; None for labels without an order."""
    positions = np.array(predictions.answers.positions)
    if not len(positions):
        return None
    truth = np.broadcast_to(predictions.truth[:, None], predictions.array.shape)
    is_read = predictions.asked & (predictions.array < len(positions))
    answered, true = predictions.array[is_read], truth[is_read]
    nominal = micro_f1(predictions.array, predictions.truth), sensitivity(predictions.p_tau)
    if not len(answered):
        return OrdinalScores(*nominal, None, None)
    from sklearn.metrics import cohen_kappa_score

    distances = np.abs(positions[answered] - positions[true])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with a single label it is 0 / 0, hence NaN
        kappa = cohen_kappa_score(true, answered, labels=range(len(positions)), weights="quadratic")
    return OrdinalScores(*nominal, float(distances.mean()), none_if_nan(kappa))


def none_if_nan(value: float) -> float | None:
    """A measure as JSON can hold it."""
    return None if np.isnan(value) else float(value)


def _mean_absolute_error(predictions: Predictions) -> float | None:
    is_read = predictions.is_read
    if not is_read.any():
        return None
    truth = np.array([float(str(sample.label)) for sample in predictions.samples])
    answers = np.array([float(text_of(code)) for code in predictions.array[is_read].tolist()])
    return float(np.abs(answers - np.broadcast_to(truth[:, None], is_read.shape)[is_read]).mean())


def _band(predictions: Predictions) -> dict[str, float | None]:
    """S at other thresholds: how much of it comes from the matcher."""
    band: dict[str, float | None] = {}
    for threshold in BAND:
        if threshold != predictions.answers.spec.equivalence.threshold:
            answers = AnswerType(spec=AnswerSpec(FREE, f"{EMBEDDING}:{threshold}"))
            band[f"S at {threshold:g}"] = float(replace(predictions, answers=answers).sensitivities.mean())
    return band


def label_by_label(
    predictions: Predictions, rows: LabelRows
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return answers that are several labels as answers to one question per label: is it this one, or not (L)?

    They are (N * L, Q), with the truth and the sample of each row, (N * L,).
    """
    n_labels = len(predictions.labels)
    numbers = np.arange(n_labels)
    answers = np.where(rows.given.transpose(0, 2, 1), numbers[:, None], n_labels).reshape(-1, predictions.n_rephrasings)
    samples = np.repeat(np.arange(rows.n_samples), n_labels)
    return answers, np.where(rows.true, numbers, n_labels).ravel(), samples


def _confidence_measures(predictions: Predictions) -> dict[str, float | None]:
    """Return the mean decoded confidence of open answers (P24), and its rank correlation with S over samples.

    That is below 0 if the model was less sure of the answers that change. None if nothing is known, or either does not
    vary; empty if it was not asked for.
    """
    if predictions.confidence is None:
        return {}
    is_known = ~np.isnan(predictions.confidence)
    n_known = is_known.sum(axis=1)
    sums = np.where(is_known, predictions.confidence, 0.0).sum(axis=1)
    rows = np.flatnonzero(n_known)
    mean = float(sums.sum() / n_known.sum()) if len(rows) else None
    against = _rank_correlation(sums[rows] / n_known[rows], predictions.sensitivities[rows])
    return {_CONFIDENCE: mean, _CONFIDENCE_AGAINST_S: against}


def _rank_correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Spearman's, with mean ranks for ties; None if either does not vary."""
    from scipy.stats import spearmanr  # takes .8 s to import, so only where needed

    first, second = first.round(_DIGITS), second.round(_DIGITS)
    if len(np.unique(first)) <= 1 or len(np.unique(second)) <= 1:
        return None
    return float(spearmanr(first, second).statistic)


@dataclass(frozen=True, slots=True)
class ClassDifference:
    """One class under two prompts."""

    label: str
    n: int  # its samples
    # Its F1, or where answers are scored the mean score of its samples
    before: float
    after: float
    paired: PairedDifference  # after minus before


def compare_classes(first: Predictions, second: Predictions) -> list[ClassDifference]:
    """Compare two prompts class by class, on the same samples and rephrasings; empty without classes."""
    differences = []
    sides = zip(class_answers(first), class_answers(second), strict=True)
    for (label, right, weights), (_, second_right, second_weights) in sides:
        n = len(first.members(label))
        if not n or not (weights.any() or second_weights.any()):
            continue
        before, after = weighted_mean(right, weights) or 0.0, weighted_mean(second_right, second_weights) or 0.0
        paired = mean_difference(right, second_right, first_weights=weights, second_weights=second_weights)
        differences.append(ClassDifference(label, n, before, after, paired))
    return differences


def class_answers(predictions: Predictions) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Each label with the score and the weight of every answer for it, (N, Q) each.

    F1 is a ratio of sums: a right answer weighs two, one that misses or adds the label weighs one. Where a metric or
    closeness scores the answers, it is the mean over the samples of the class. Texts without classes yield nothing.
    """
    if predictions.label_rows is not None:
        is_answered, true = predictions.label_rows.given, predictions.label_rows.true
    elif predictions.answers.open is None:
        numbers = np.arange(len(predictions.labels))
        is_answered = predictions.array[:, :, None] == numbers
        true = predictions.truth[:, None] == numbers
    else:
        return
    is_scored = predictions.quality is not None and predictions.label_rows is None
    for number, label in enumerate(predictions.labels):
        is_given, is_true = is_answered[:, :, number], true[:, None, number]
        if is_scored:
            yield label, np.asarray(predictions.quality), np.broadcast_to(is_true, is_given.shape).astype(np.float64)
        else:
            weights = (is_given.astype(np.float64) + is_true) * predictions.asked
            yield label, (is_given & is_true).astype(np.float64), weights


def weighted_mean(scores: NDArray[np.float64], weights: NDArray[np.float64]) -> float | None:
    """The weighted mean; None if all weights are 0."""
    return float((scores * weights).sum() / weights.sum()) if weights.any() else None
