"""Each sample's influence on a score: scores linearised over samples, with all wordings or with one left out.

The influence of sample i is the score's derivative with respect to its weight. Influences sum to 0; the sum of their
squares is the score's variance over samples (Hampel, 1974). For the means F1 and S it is (x_i - mean) / N. For C, whose
pairs weigh n_y in a class of n_y samples, it is 2 n_y (cbar_i - C) / B with B the number of ordered pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._counts import prediction_counts
from ._inputs import read_either, read_labels
from ._numerics import class_differences, mean_of_defined
from ._similarity import answer_entropy, read_similarity

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from ._inputs import Floats

    Linearised = tuple[Floats, Floats]
    """Estimates (k,) of k scores, and the influences (k, N) of the samples on each."""
    Statistic = Callable[[int | None], Linearised]
    """Scores with all wordings (None), or with one left out."""


LEAST_WEIGHT = 1e-300  # if all weights are 0, the mean is 0 and nothing adds to it


@dataclass(frozen=True)
class Answers:
    """Answers to one prompt, prepared for sums over wordings."""

    mass: NDArray[Any]  # (N * C, Q): what answer (i, q) gives class c: one or zero, or the probability p(c|x_i, rho_q)
    right: Floats  # (N, Q): one where the (most probable) answer is right
    classes: NDArray[np.int64]  # (N,): the true label's index among the labels that occur
    hard: bool  # whether mass holds only zeros and ones, so that its sums over rephrasings are counts
    similarity: Floats | None = None  # (C, C) or (N, C, C): how alike two answers are

    @property
    def shape(self) -> tuple[int, int, int]:
        """(N, Q, C)."""
        n_samples, n_rephrasings = self.right.shape
        return n_samples, n_rephrasings, len(self.mass) // n_samples


def read_answers(
    predictions: ArrayLike,
    y: ArrayLike,
    n_classes: int,
    name: str = "predictions",
    *,
    similarity: ArrayLike | None = None,
) -> Answers:
    """Hard integer predictions (N, Q) or probabilities (N, Q, C), with their labels (N,)."""
    predicted, probabilities = read_either(predictions, n_classes, name)
    y = read_labels(y, len(predicted), n_classes)
    if probabilities is None:
        # float32 holds counts exactly up to 16 million rephrasings
        mass = (predicted[:, None, :] == np.arange(n_classes)[:, None]).astype(np.float32)
    else:
        mass = probabilities.transpose(0, 2, 1)
    return Answers(
        mass=mass.reshape(-1, predicted.shape[1]),
        right=(predicted == y[:, None]).astype(np.float64),
        classes=np.unique(y, return_inverse=True)[1],
        hard=probabilities is None,
        similarity=read_similarity(similarity, len(predicted), n_classes),
    )


def joint_statistic(answers: Answers) -> Statistic:
    """F1, S and pooled C. O(N C + Q C) for each wording left out, or O(N C log N) for probabilities."""
    n_samples, n_rephrasings, n_classes = answers.shape
    mass = answers.mass.sum(axis=1, dtype=np.float64)
    right = answers.right.sum(axis=1)
    sizes = np.bincount(answers.classes)[answers.classes].astype(np.float64)
    n_pairs = sizes.sum()

    def at(without: int | None) -> Linearised:
        n_answers = n_rephrasings - (without is not None)
        mass_left = _left(mass, answers.mass, without).reshape(n_samples, n_classes)
        table, n_draws = _table(mass_left, n_answers, hard=answers.hard)
        shares_right = _left(right, answers.right, without) / n_answers
        entropies = np.minimum(answer_entropy(table, n_draws, answers.similarity) / np.log(n_classes), 1.0)
        agreement = 1 - class_differences(table, n_draws, answers.classes) / sizes
        f1, sensitivity = shares_right.mean(), entropies.mean()
        consistency = (sizes * agreement).sum() / n_pairs
        influences = [
            (shares_right - f1) / n_samples,
            (entropies - sensitivity) / n_samples,
            2 * sizes * (agreement - consistency) / n_pairs,
        ]
        return np.array([f1, sensitivity, consistency]), np.array(influences)

    return at


def _left(total: Floats, parts: NDArray[Any], without: int | None) -> Floats:
    """A sum over wordings, `parts`' last axis, without one of them."""
    if without is None:
        return total
    return np.asarray(total - parts[..., without])


def _table(mass: Floats, n_answers: int, *, hard: bool) -> tuple[NDArray[Any], int | None]:
    if hard:
        return np.rint(mass).astype(np.intp), n_answers
    shares = np.maximum(mass, 0.0)  # a difference of sums may fall slightly below 0
    return shares / shares.sum(axis=1, keepdims=True), None


def mean_statistic(scores: Floats, weights: Floats | None = None) -> Statistic:
    """The mean of one number per answer, (N, Q), or with weights, (N, Q), a ratio of sums; 0 if all weights are 0."""
    if weights is None:
        weights = np.ones(scores.shape)
    parts = scores * weights
    part, weight = parts.sum(axis=1), weights.sum(axis=1)

    def at(without: int | None) -> Linearised:
        return _ratios(_left(part, parts, without)[None], _left(weight, weights, without)[None], undefined=0.0)

    return at


def class_f1_statistic(chosen: NDArray[Any], y: NDArray[Any], labels: NDArray[Any], n_classes: int) -> Statistic:
    """F1 of each of k labels, 2 TP / (2 TP + FP + FN); NaN if a label is neither true nor answered."""
    true = (y == labels[:, None]).astype(np.float64)
    answered = prediction_counts(chosen, n_classes)[:, labels].T.astype(np.float64)
    n_rephrasings = chosen.shape[1]

    def at(without: int | None) -> Linearised:
        n_answers = n_rephrasings - (without is not None)
        left = answered if without is None else answered - (chosen[:, without] == labels[:, None])
        return _ratios(2 * true * left, n_answers * true + left, undefined=np.nan)

    return at


def _ratios(parts: Floats, weights: Floats, undefined: float) -> Linearised:
    """Ratios of sums over samples, and the influences: k of them, from (k, N) each."""
    total = np.maximum(weights.sum(axis=1), LEAST_WEIGHT)
    ratios = np.where(weights.any(axis=1), parts.sum(axis=1) / total, undefined)
    return ratios, (parts - ratios[:, None] * weights) / total[:, None]


def of_groups(statistic: Statistic, groups: NDArray[np.int64] | None) -> Statistic:
    """The same with influences summed over rows that belong together: each group is one draw."""
    if groups is None:
        return statistic

    def at(without: int | None) -> Linearised:
        estimates, influences = statistic(without)
        summed = [np.bincount(groups, weights=of_score) for of_score in influences]
        return estimates, np.array(summed)

    return at


def macro_statistic(of_labels: Statistic) -> Statistic:
    """The mean of k scores, ignoring NaN; NaN if all are."""

    def at(without: int | None) -> Linearised:
        scores, influences = of_labels(without)
        is_defined = np.isfinite(scores)
        if not is_defined.any():
            return np.array([np.nan]), np.zeros((1, influences.shape[1]))
        return np.array([mean_of_defined(scores)]), influences[is_defined].mean(axis=0)[None]

    return at


def difference_statistic(first: Statistic, second: Statistic) -> Statistic:
    """Second minus first, on the same samples and wordings."""

    def at(without: int | None) -> Linearised:
        before, after = first(without), second(without)
        return after[0] - before[0], after[1] - before[1]

    return at
