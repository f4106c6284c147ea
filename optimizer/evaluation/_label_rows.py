"""Answers that are several labels, label by label: C is then E25's, with a sample counted once per label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import FIRST_CODE, text_of
from psopt.metrics import consistency, prediction_counts, sample_consistency
from psopt.models import NOT_ASKED
from psopt.tasks import set_written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Flags = NDArray[np.bool_]


_GIVEN, _NOT_GIVEN, _NA = range(3)
_LEAST_WEIGHT = 1e-300  # where all weights are 0 the mean is 0, and nothing adds to it


@dataclass(frozen=True, eq=False)
class LabelRows:
    """One row for each label of each sample."""

    given: Flags  # (N, Q, L): which labels each answer names
    true: Flags  # (N, L): which labels each sample has
    said: Indices  # whether an answer names the row's label: 0 it does, 1 it does not, 2 N/A; -1 where it was not asked
    labels: Indices  # the row's label
    samples: Indices  # the row's sample: rows of one sample are drawn together

    @classmethod
    def of(cls, array: Indices, true: Sequence[str], labels: Sequence[str]) -> LabelRows:
        """Split a grid of answers, (N, Q), by the sets of correct labels, written as in `Sample.label`."""
        own = [set_written(written) for written in true]
        has_label = np.array([[label in names for label in labels] for names in own], dtype=np.bool_)
        is_given = _given_labels(array, labels)
        rows, numbers = np.nonzero(has_label)
        answers = np.where(array[rows] < FIRST_CODE, _NA, np.where(is_given[rows, :, numbers], _GIVEN, _NOT_GIVEN))
        return cls(is_given, has_label, np.where(array[rows] == NOT_ASKED, NOT_ASKED, answers), numbers, rows)

    @property
    def n_samples(self) -> int:
        return len(self.true)

    @property
    def n_classes(self) -> int:
        """How many classes `said` and `labels` have together."""
        return max(_NA + 1, int(self.true.shape[1]))

    def consistency(self, *, self_pairs: bool = True) -> float:
        """C pooled over the labels; NaN where there is no pair."""
        return consistency(self._p_tau, self.labels, self_pairs=self_pairs) if len(self.labels) else np.nan

    @property
    def consistency_of_labels(self) -> Floats:
        """C of each label, (L,); NaN if no sample has it."""
        n_labels = self.true.shape[1]
        if not len(self.labels):
            return np.full(n_labels, np.nan)
        return consistency(self._p_tau, self.labels, average=None)[:n_labels]

    @property
    def consistency_of_samples(self) -> Floats:
        """Mean consistency of each sample with the others of its labels: (N,); 1 if it has no label or is alone."""
        if not len(self.labels):
            return np.ones(self.n_samples)
        of_rows = np.nan_to_num(sample_consistency(self._p_tau, self.labels), nan=1.0)
        n_labels = np.bincount(self.samples, minlength=self.n_samples)
        sums = np.bincount(self.samples, weights=of_rows, minlength=self.n_samples)
        return np.where(n_labels > 0, sums / np.maximum(n_labels, 1), 1.0)

    @property
    def contributions(self) -> Floats:
        """What each sample contributes to C without self-pairs, (N,): their mean is C, by Hajek's projection."""
        if not len(self.labels):
            return np.ones(self.n_samples)
        pooled, parts = consistency_contributions(self._p_tau, self.labels)
        of_samples = np.bincount(self.samples, weights=parts, minlength=self.n_samples)
        return np.asarray(pooled + self.n_samples / len(self.labels) * of_samples)

    @property
    def _p_tau(self) -> Indices | Floats:
        return p_tau_where(self.said != NOT_ASKED, self.said, self.n_classes)


def counts_where(is_asked: Flags, answers: Indices, n_classes: int) -> Indices:
    """How often each class was answered, (N, C), in the cells, (N, Q), that were asked."""
    with_unasked = np.where(is_asked, answers, n_classes)  # one more class, which is dropped
    return prediction_counts(with_unasked, n_classes + 1)[:, :n_classes]


def p_tau_where(is_asked: Flags, answers: Indices, n_classes: int) -> Indices | Floats:
    """The same counts or, if samples were asked under different numbers of rephrasings, each sample's shares."""
    counts = counts_where(is_asked, answers, n_classes)
    if is_asked.all():
        return counts
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _given_labels(array: Indices, labels: Sequence[str]) -> Flags:
    """Which labels each answer names: (N, Q, L) bool."""
    distinct, place = np.unique(array, return_inverse=True)
    names = [set_written(text_of(code)) if code >= FIRST_CODE else () for code in distinct.tolist()]
    named = np.array([[label in of_answer for label in labels] for of_answer in names], dtype=np.bool_)
    return np.asarray(named.reshape(len(names), len(labels))[place.reshape(array.shape)])


def mean_influences(scores: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return the weighted mean of one number per answer, (N, Q), and each sample's contribution, (N,).

    Contributions sum to 0. The mean is a ratio of sums, as micro-F1 over several labels is.

    >>> mean, parts = mean_influences(np.array([[1.0, 0.0], [1.0, 1.0]]), np.ones((2, 2)))
    >>> mean, parts.tolist()
    (0.75, [-0.125, 0.125])
    """
    total = max(float(weights.sum()), _LEAST_WEIGHT)
    mean = float((scores * weights).sum()) / total
    return mean, np.asarray((weights * (scores - mean)).sum(axis=1) / total)


def consistency_contributions(p_tau: Indices | Floats, labels: Indices) -> tuple[float, Floats]:
    """Return C without self-pairs, and how far each row's contribution is from it, (M,): Hajek's projection.

    A row that is alone in its class agrees with it.
    """
    with_others = np.nan_to_num(sample_consistency(p_tau, labels, self_pairs=False), nan=1.0)
    others = np.bincount(labels)[labels] - 1.0
    weights = others / others.mean() if others.any() else np.ones(len(others))
    pooled = float((weights * with_others).mean())
    return pooled, np.asarray(2 * weights * (with_others - pooled))
