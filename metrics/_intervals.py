"""How precise scores are: intervals by linearisation over samples and jackknife over wordings, without replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._f1 import macro_f1
from ._influences import class_f1_statistic, joint_statistic, macro_statistic, mean_statistic, of_groups, read_answers
from ._inputs import (
    SCORES,
    n_weighted,
    read_either,
    read_groups,
    read_label_list,
    read_labels,
    read_scores,
    read_tail,
    read_weights,
)
from ._scatter import floors, logit_ends, scatter
from ._similarity import read_similarity, similarity_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ._scatter import Scatter, Wordings


class Interval(NamedTuple):
    """An estimate and its interval: low <= estimate <= high."""

    estimate: float
    low: float
    high: float

    @property
    def bounds(self) -> tuple[float, float]:
        """(low, high)."""
        return self.low, self.high


SAMPLES_COUNT = np.array([1.0, 1.0, 0.5])  # for F1, S, C: C counts pairs, which hold a sample twice (`_scatter`)
FEWEST_OF_CLASS = 2  # samples: one sample shows no scatter, as in `scatter`
FEWEST_WORDINGS = np.array([1, 2, 1])  # for F1, S, C: under one wording nothing can change


def score_intervals(
    predictions: ArrayLike,
    y: ArrayLike,
    n_classes: int,
    *,
    wordings: Wordings = "random",
    confidence: float = 0.95,
    similarity: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> dict[str, Interval]:
    """Intervals of micro-F1, sensitivity and pooled consistency.

    Linearised over samples, a jackknife over wordings, t quantiles with Satterthwaite's degrees of freedom on the logit
    scale: no replicates, and reproducible. If hardly any sample deviates, each end is at least as far out as 3.69
    further samples (for 95 %), all at the scale's end, would put it.

    Measured (benchmarks/coverage.md: 60 cells of 1,000 data sets, N 20 to 500, Q 5 to 30): 95 % intervals cover the
    truth in 94 to 98 % of the cases for F1 and C, and in 92 to 99 % for S. On a language model's real answers S is
    covered less often where few of the drawn wordings are of the kind that moves a prompt most
    (experiments/real_grids.py). All figures, with those for ordered and several labels: docs/guides/how-sure.md,
    benchmarks/coverage_ordered.md and benchmarks/coverage_open.md.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int, or (n_samples, n_rephrasings, n_classes) float
        Class numbers in [0, n_classes), N/A last; or probabilities.
    y : (n_samples,) int
        True labels in [0, n_classes).
    n_classes : int
        Number of classes C, N/A included.
    wordings : "random" or "fixed"
        What a new experiment would draw. Random: new samples and new wordings like these. Fixed: new samples under
        exactly the same wordings.
    confidence : float
        In (0, 1).
    similarity : (n_classes, n_classes) float, or (n_samples, n_classes, n_classes) float, optional
        For S, as in `sample_sensitivity`.
    groups : (n_samples,) int, optional
        Which rows belong together, from 0 on, if one draw yields several rows, such as the labels of one sample. Only
        the scatter depends on it.

    Returns
    -------
    dict of str to Interval
        Keys ``f1``, ``sensitivity``, ``consistency``: for S and C_y at this number of wordings, cut to [0, 1]. One
        sample gives only [0, 1]; so does one wording for S, and two random ones, which are a single pair. With one
        wording, the intervals of F1 and C_y are over samples alone.

    References
    ----------
    Hampel, *The influence curve and its role in robust estimation*, 1974; Efron and Stein, *The jackknife estimate of
    variance*, 1981; Satterthwaite, *An approximate distribution of estimates of variance components*, 1946.

    Examples
    --------
    >>> predictions = [[0, 0, 1], [1, 1, 1], [1, 1, 1], [0, 1, 0]]
    >>> interval = score_intervals(predictions, [0, 1, 1, 0], n_classes=3)["f1"]
    >>> round(interval.estimate, 3), interval.low < interval.estimate < interval.high
    (0.833, True)
    """
    answers = read_answers(predictions, y, n_classes, similarity=similarity)
    tail = read_tail(confidence)
    n_rephrasings = answers.shape[1]
    statistic = of_groups(joint_statistic(answers), read_groups(groups, len(answers.classes)))
    spread = scatter(statistic, n_rephrasings, wordings, fewest_wordings=FEWEST_WORDINGS)
    return {name: _interval(spread, place, SAMPLES_COUNT[place], tail) for place, name in enumerate(SCORES)}


def mean_interval(
    scores: ArrayLike, *, weights: ArrayLike | None = None, wordings: Wordings = "random", confidence: float = 0.95
) -> Interval:
    """The interval of a mean over answers, such as a metric's mean score or the share of N/A.

    Parameters
    ----------
    scores : (n_samples, n_rephrasings) float or bool
        One number per answer, in [0, 1].
    weights : (n_samples, n_rephrasings) float, optional
        How much each number counts; by default all the same. The mean is then a ratio of sums: micro-F1 over several
        labels averages each answer's F1, weighted by the number of labels given plus the number that are right. Samples
        without any weight say nothing about the mean, and are left out; if none has any, the mean is 0.
    wordings, confidence
        As in `score_intervals`.

    Returns
    -------
    Interval
        Cut to [0, 1].

    Examples
    --------
    None of 100 answers to 20 samples is N/A, but up to one in six may be.

    >>> round(mean_interval([[0] * 5] * 20).high, 2)
    0.16
    """
    array = read_scores(scores)
    tail = read_tail(confidence)
    weight = read_weights(weights, array, "weights")
    spread = scatter(mean_statistic(array, weight), array.shape[1], wordings, n_weighted(array, weight))
    return _interval(spread, 0, 1.0, tail)


def class_intervals(
    predictions: ArrayLike,
    y: ArrayLike,
    n_classes: int,
    *,
    labels: Sequence[int] | None = None,
    wordings: Wordings = "random",
    confidence: float = 0.95,
    similarity: ArrayLike | None = None,
) -> list[dict[str, Interval]]:
    """Intervals of each class's F1, sensitivity and consistency.

    Parameters
    ----------
    predictions, y, n_classes, wordings, confidence, similarity
        As in `score_intervals`.
    labels : sequence of int, optional
        The classes; by default all n_classes.

    Returns
    -------
    list of dict of str to Interval
        One per label, with the defined keys of ``f1``, ``sensitivity``, ``consistency``: F1 if the label is true or
        answered anywhere, S and C_y if the class has a sample.

    Examples
    --------
    >>> first, second = class_intervals([[0, 0], [0, 0], [1, 0]], [0, 0, 1], n_classes=3, labels=[0, 1])
    >>> round(first["f1"].estimate, 3), second["sensitivity"].bounds
    (0.889, (0.0, 1.0))
    """
    predicted, _ = read_either(predictions, n_classes)
    truth = read_labels(y, len(predicted), n_classes)
    tail = read_tail(confidence)
    wanted = np.arange(n_classes) if labels is None else read_label_list(labels, n_classes)
    array = np.asarray(predictions)
    kernel = read_similarity(similarity, len(predicted), n_classes)
    n_samples = np.maximum(_concerned(predicted, truth, wanted), 1)
    of_f1 = scatter(class_f1_statistic(predicted, truth, wanted, n_classes), predicted.shape[1], wordings, n_samples)
    intervals = []
    for place, label in enumerate(wanted):
        f1 = _interval(of_f1, place, 1.0, tail)
        of_class = {} if np.isnan(f1.estimate) else {"f1": f1}
        own = truth == label
        if own.any():
            of_own = score_intervals(
                array[own],
                truth[own],
                n_classes,
                wordings=wordings,
                confidence=confidence,
                similarity=similarity_of(kernel, own),
            )
            of_class |= {name: of_own[name] for name in ("sensitivity", "consistency")}
        intervals.append(of_class)
    return intervals


def _concerned(
    predicted: NDArray[Any], truth: NDArray[Any], labels: NDArray[Any], draws: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """How many draws are behind each label's F1: those that have the label or are given it."""
    return np.array([_n_drawn((predicted == label).any(axis=1) | (truth == label), draws) for label in labels])


def _n_drawn(rows: NDArray[np.bool_], draws: NDArray[np.int64] | None) -> int:
    return int(rows.sum()) if draws is None else len(np.unique(draws[rows]))


def macro_f1_interval(
    predictions: ArrayLike,
    y: ArrayLike,
    n_classes: int,
    *,
    labels: Sequence[int] | None = None,
    wordings: Wordings = "random",
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
) -> Interval:
    """The interval of macro-F1, the mean of the classes' F1.

    If hardly any sample deviates, K classes of n_k samples count as K^2 / sum(1 / n_k) samples: a plain mean of that
    many has the same variance. A class with one sample, or none and only answered, shows no scatter: its F1 may be
    anything in [0, 1].

    Measured (benchmarks/coverage_macro.md: 30 cells of 400 data sets, N 20 to 500, Q 5 and 10): 95 % intervals cover
    the truth in 94 to 99 % of the cases, and in 98 to 100 % where most data sets have at most one sample of a class.

    Parameters
    ----------
    predictions, y, n_classes, wordings, confidence, groups
        As in `score_intervals`.
    labels : sequence of int, optional
        The classes, as in `macro_f1`; by default all n_classes. Labels that are neither true nor answered are left out.

    Returns
    -------
    Interval
        Cut to [0, 1]; NaN if no label is ever true or answered.

    Examples
    --------
    >>> interval = macro_f1_interval([[0, 0], [0, 0], [1, 0]], [0, 0, 1], n_classes=3, labels=[0, 1])
    >>> round(interval.estimate, 3)
    0.778
    """
    predicted, _ = read_either(predictions, n_classes)
    truth = read_labels(y, len(predicted), n_classes)
    tail = read_tail(confidence)
    wanted = np.arange(n_classes) if labels is None else read_label_list(labels, n_classes)
    draws = read_groups(groups, len(predicted))
    estimate = macro_f1(predicted, truth, wanted.tolist())
    if np.isnan(estimate):
        return Interval(np.nan, np.nan, np.nan)
    concerned = _concerned(predicted, truth, wanted, draws)
    true = np.array([_n_drawn(truth == label, draws) for label in wanted])
    is_known = true >= FEWEST_OF_CLASS
    share_known = float(is_known.sum() / (concerned > 0).sum())
    if not is_known.any():
        return Interval(estimate, 0.0, 1.0)
    n_samples = is_known.sum() ** 2 / (1 / concerned[is_known]).sum()
    statistic = of_groups(macro_statistic(class_f1_statistic(predicted, truth, wanted[is_known], n_classes)), draws)
    interval = _interval(scatter(statistic, predicted.shape[1], wordings, n_samples), 0, 1.0, tail)
    return Interval(estimate, share_known * interval.low, 1 - share_known * (1 - interval.high))


def _interval(spread: Scatter, place: int, counts: float, tail: float) -> Interval:
    """The interval of one of several scores in [0, 1]; a sample counts as `counts`."""
    estimate, variance = float(spread.estimates[place]), float(spread.variances[place])
    if np.isnan(estimate):
        return Interval(np.nan, np.nan, np.nan)
    if not np.isfinite(variance):
        return Interval(estimate, 0.0, 1.0)
    low, high = logit_ends(estimate, float(np.sqrt(variance)), float(spread.plain_df[place]), tail)
    if spread.is_thin[place]:
        lowest, highest = floors(estimate, float(counts * spread.n_samples[place]), tail)
        low, high = min(low, lowest), max(high, highest)
    return Interval(estimate, low, high)
