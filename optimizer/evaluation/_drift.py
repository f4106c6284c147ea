"""Do fresh, unlabelled texts get the same answers as the texts that a prompt was measured on?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation._objectives import holm
from psopt.evaluation._scores import sample_posix_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions

    Floats = NDArray[np.float64]

DRIFT_ALPHA = 0.05
"""The chance of reporting a shift of any measure where there is none: the tests share it by Holm's method."""
_DRAWS, _AT_ONCE = 9_999, 500  # permutations, so that p is at least 1e-4; permutations in memory at once
_SEED = 42  # the same data give the same p


@dataclass(frozen=True, slots=True)
class Shift:
    """How far a measure of fresh answers lies from that of known ones."""

    measure: str  # ``sensitivity``, ``label_shares`` or ``posix``
    before: float | None  # None for label shares
    after: float | None
    p_value: float
    level: float = DRIFT_ALPHA  # what the p-value was compared with
    is_seen: bool = False
    shares: tuple[dict[str, float], dict[str, float]] = ({}, {})  # of each label, including N/A; only for label shares


def shifts(known: Predictions, fresh: Predictions) -> list[Shift]:
    """Test whether fresh answers differ in S, in the shares of the labels, and in POSIX where both have probabilities.

    Each is a two-sided permutation test: texts, with all their answers, are reassigned at random to the two groups, so
    it assumes nothing about how answers are distributed. Both groups were asked under the same wordings.
    """
    tests = [_of_means("sensitivity", known.sensitivities, fresh.sensitivities)]
    if known.answers.open is None:
        counts = _votes_by_label(known), _votes_by_label(fresh)
        before, after = (dict(zip(known.class_names, (of / of.sum()).tolist(), strict=True)) for of in counts)
        tests.append(Shift("label_shares", None, None, share_shift(*counts), shares=(before, after)))
    posix = sample_posix_of(known), sample_posix_of(fresh)
    if posix[0] is not None and posix[1] is not None:
        tests.append(_of_means("posix", posix[0], posix[1]))
    judged = holm([shift.p_value for shift in tests], DRIFT_ALPHA)
    return [replace(shift, level=level, is_seen=is_seen) for shift, (is_seen, level) in zip(tests, judged, strict=True)]


def _of_means(measure: str, before: Floats, after: Floats) -> Shift:
    return Shift(measure, float(before.mean()), float(after.mean()), mean_shift(before, after))


def mean_shift(before: Floats, after: Floats) -> float:
    """The p-value of the two groups having the same mean, by permutation, in (0, 1].

    >>> mean_shift(np.zeros(30), np.ones(30)), mean_shift(np.ones(5), np.ones(5))
    (0.0001, 1.0)
    """
    values, counts = np.unique(np.concatenate([before, after]), return_counts=True)
    middle = values @ counts / counts.sum()
    drawn = (abs(of @ values / len(after) - middle) for of in _drawn(counts, len(after)))
    return _p_value(abs(float(after.mean()) - middle), drawn)


def share_shift(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """The p-value of the two groups having the same shares, by permutation of the chi-square statistic, in (0, 1].

    >>> share_shift(np.array([40, 10]), np.array([10, 40])), share_shift(np.array([4, 1]), np.array([4, 1]))
    (0.0001, 1.0)
    """
    whole = before + after
    expected = whole * after.sum() / whole.sum()
    # Both groups' sizes are fixed, so the other group's term differs only by a factor.
    weights = np.divide(1.0, expected, out=np.zeros(len(whole)), where=whole > 0)
    drawn = ((of - expected) ** 2 @ weights for of in _drawn(whole, int(after.sum())))
    return _p_value(float((after - expected) ** 2 @ weights), drawn)


def _drawn(counts: NDArray[np.int64], n: int) -> Iterator[NDArray[np.int64]]:
    """Draw n without replacement, and yield how many of each value they hold: (draws, values), in batches."""
    stream = np.random.default_rng(_SEED)
    for start in range(0, _DRAWS, _AT_ONCE):
        size = min(_AT_ONCE, _DRAWS - start)
        yield stream.multivariate_hypergeometric(counts, n, size=size, method="marginals")


def _p_value(seen: float, drawn: Iterator[Floats]) -> float:
    """The share of draws that are at least as extreme, counting the observed one."""
    as_far = sum(int((of >= seen - 1e-12).sum()) for of in drawn)
    return (1 + as_far) / (1 + _DRAWS)


def _votes_by_label(predictions: Predictions) -> NDArray[np.int64]:
    """How many samples vote for each class, (C,)."""
    return np.bincount(predictions.counts.argmax(axis=1), minlength=predictions.n_classes)
