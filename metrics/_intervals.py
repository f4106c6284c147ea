"""How precise scores are: intervals by linearisation over samples and jackknife over wordings, without replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ._f1 import macro_f1
from ._influences import class_f1_statistic, joint_statistic, macro_statistic, mean_statistic, of_groups, read_answers
from ._inputs import (
    SCORES,
    read_either,
    read_groups,
    read_label_list,
    read_labels,
    read_scores,
    read_tail,
    read_weights,
)
from ._scatter import floor_high, floor_low, logit_ends, scatter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ._influences import Statistic
    from ._scatter import Scatter, Wordings


class Interval(NamedTuple):
    """An estimate and its interval.

    Attributes
    ----------
    estimate, low, high : float
        low <= estimate <= high.
    """

    estimate: float
    low: float
    high: float

    @property
    def bounds(self) -> tuple[float, float]:
        """(low, high)."""
        return self.low, self.high


SAMPLES_COUNT = np.array([1.0, 1.0, 0.5])  # for F1, S, C: C counts pairs, which hold a sample twice (`_scatter`)
FEWEST_OF_CLASS = 2  # samples: one sample shows no scatter, as in `scatter`
_S = SCORES.index("sensitivity")


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

    Measured (benchmarks/coverage.md: 60 cells of 400 data sets, so within 1.1 points; N 20 to 500, Q 5 to 30, F1 .78 to
    .98, S .01 to .25, accuracy scattering by 0 and .05 over wordings): 95 % intervals cover the truth in 93 to 98 % of
    the cases for F1, 94 to 98 % for C, and 92 to 98 % for S, at Q = 5 in 91 to 98 %; on average in 96 %. The truth lies
    beyond the worse end of F1 in 4 %, of C in 3 %, and of S in 6 % at most (where one wording in ten changes the
    answers to otherwise stable samples), in 2 % on average.

    On SmolLM2's real answers to TREC (experiments/real_grids.py: 72 cells of 300 draws; N 100 to 300, Q 5 and 10) F1 is
    covered in 90 to 97 %. Under people's wordings, with the label prior taken out, S is covered in 93 to 98 % and C in
    91 to 98; S in 73 to 87 % if few of the drawn wordings are of the kind that moves a prompt most, and in 56 to 96 if
    nearly everything gets one answer.

    For ordered labels, with their similarities (benchmarks/coverage_ordered.md: 24 cells of 400 data sets), S is
    covered in 92 to 99 %, and the mean closeness (`mean_interval`) in 94 to 99 %; for truly equal prompts the paired
    tests report a difference of either in 6 % at most. For several labels (benchmarks/coverage_open.md: 18 cells of 300
    data sets) micro-F1 is covered in 94 to 98 %, S in 89 to 99 % (at Q = 10 in 94 to 98) and C in 93 to 99 %; equal
    prompts seem to differ in 6, 6 and 8 % at most.

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
        sample gives only [0, 1], and so does one wording for S. With one wording, the intervals of F1 and C_y are over
        samples alone.

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
    spread = joint_scatter(statistic, n_rephrasings, wordings)
    return dict(zip(SCORES, _intervals(spread, SAMPLES_COUNT, tail), strict=True))


def mean_interval(
    scores: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    wordings: Wordings = "random",
    confidence: float = 0.95,
) -> Interval:
    """The interval of a mean over answers, such as a metric's mean score or the share of N/A.

    Parameters
    ----------
    scores : (n_samples, n_rephrasings) float or bool
        One number per answer, in [0, 1].
    weights : (n_samples, n_rephrasings) float, optional
        How much each number counts; by default all the same. The mean is then a ratio of sums: micro-F1 over several
        labels averages each answer's F1, weighted by the number of labels given plus the number that are right.
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
    statistic = mean_statistic(array, read_weights(weights, array, "weights"))
    spread = scatter(statistic, array.shape[1], wordings)
    return _intervals(spread, np.ones(1), tail)[0]


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
    predicted, probabilities = read_either(predictions, n_classes)
    answers = read_answers(predictions, y, n_classes)
    tail = read_tail(confidence)
    truth = np.asarray(y)
    wanted = np.arange(n_classes) if labels is None else np.asarray(labels)
    source = predicted if probabilities is None else probabilities
    n_rephrasings = answers.shape[1]
    claimed = [((predicted == label).any(axis=1) | (truth == label)).sum() for label in wanted]
    of_f1 = scatter(class_f1_statistic(predicted, truth, wanted), n_rephrasings, wordings, np.maximum(claimed, 1))
    intervals = []
    for label, f1 in zip(wanted, _intervals(of_f1, np.ones(len(wanted)), tail), strict=True):
        of_class = {} if np.isnan(f1.estimate) else {"f1": f1}
        if (truth == label).any():
            members = read_answers(source[truth == label], truth[truth == label], n_classes, similarity=similarity)
            spread = joint_scatter(joint_statistic(members), n_rephrasings, wordings)
            joint = dict(zip(SCORES, _intervals(spread, SAMPLES_COUNT, tail), strict=True))
            of_class.update({name: joint[name] for name in ("sensitivity", "consistency")})
        intervals.append(of_class)
    return intervals


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

    Measured (benchmarks/coverage_macro.md: 30 cells of 400 data sets, so within 1.1 points; N 20 to 500, Q 5 and 10,
    two to six classes of 60 to 2 %, macro-F1 .63 to .93): 95 % intervals cover the truth in 94 to 99 % of the cases,
    and in 98 to 100 % where classes have at most one sample in most data sets. The truth lies beyond the worse end in
    3.5 % at most, and beyond the better end in 4 %.

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
    wanted = np.arange(n_classes) if labels is None else read_label_list(labels)
    draws = read_groups(groups, len(predicted))
    estimate = macro_f1(predicted, truth, wanted.tolist())
    if np.isnan(estimate):
        return Interval(np.nan, np.nan, np.nan)
    # the number of samples behind a class's F1: those that have the label or are given it
    claimed = np.array([((predicted == label).any(axis=1) | (truth == label)).sum() for label in wanted])
    true = np.array([(truth == label).sum() for label in wanted])
    is_known = true >= FEWEST_OF_CLASS
    share_known = is_known.sum() / (claimed > 0).sum()
    if not is_known.any():
        return Interval(estimate, 0.0, 1.0)
    n_samples = is_known.sum() ** 2 / (1 / claimed[is_known]).sum()
    statistic = of_groups(macro_statistic(class_f1_statistic(predicted, truth, wanted[is_known])), draws)
    interval = _intervals(scatter(statistic, predicted.shape[1], wordings, n_samples), np.ones(1), tail)[0]
    return Interval(estimate, share_known * interval.low, 1 - share_known * (1 - interval.high))


def joint_scatter(statistic: Statistic, n_rephrasings: int, wordings: str) -> Scatter:
    """The scatter of the joint scores; unknown for S from one wording, under which nothing can change."""
    spread = scatter(statistic, n_rephrasings, wordings)
    if n_rephrasings == 1:
        spread.variances[_S] = np.inf
    return spread


def _intervals(spread: Scatter, samples_count: NDArray[np.float64], tail: float) -> list[Interval]:
    """Intervals of scores in [0, 1]."""
    return [_interval(spread, place, counts, tail) for place, counts in enumerate(samples_count)]


def _interval(spread: Scatter, place: int, counts: float, tail: float) -> Interval:
    estimate, variance = float(spread.estimates[place]), float(spread.variances[place])
    if np.isnan(estimate):
        return Interval(np.nan, np.nan, np.nan)
    if not np.isfinite(variance):
        return Interval(estimate, 0.0, 1.0)
    low, high = logit_ends(estimate, float(np.sqrt(variance)), float(spread.plain_df[place]), tail)
    if spread.is_thin[place]:
        n = float(counts * spread.n_samples[place])
        low, high = min(low, floor_low(estimate, n, tail, 0.0)), max(high, floor_high(estimate, n, tail, 1.0))
    return Interval(estimate, low, high)
