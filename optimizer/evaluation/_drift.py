"""Are answers the same again: to the same requests, and to fresh texts without labels?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.evaluation._objectives import holm
from psopt.evaluation._scores import sample_posix_of
from psopt.metrics import compare_scores, score_intervals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions

    Floats = NDArray[np.float64]


N_PROBED = 60
"""How many samples are asked twice before all are asked again.

Chosen: if none of this many changes its answer, fewer than 5 % of all do, at 95 % confidence (the rule of three: Hanley
and Lippman-Hand, 1983).
"""
_MOST_UNSEEN = 0.05  # the chance of seeing no change although changes are more frequent than reported


@dataclass(frozen=True, slots=True)
class Reruns:
    """S of the same requests asked again, on the same samples, as many times as S has wordings."""

    sensitivity: float  # under the original wording, in [0, 1]
    beyond: float  # S minus that: negative if asking again changes more than the wordings do
    ci: tuple[float, float]  # its 95 % interval, over samples and repetitions
    n_samples: int
    n_askings: int  # Q; 2 if no sample of a probe changed its answer, so nothing more was asked

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "changes": self.changes}

    @property
    def changes(self) -> bool:
        return self.sensitivity > 0

    def line(self, sensitivity: float) -> str:
        """Say how much of S comes from asking again.

        >>> Reruns(0.031, 0.192, (0.151, 0.233), 500, 10).line(0.223)
        'S 22.3, of it 3.1 by asking again: 19.2 beyond that (95 %: 15.1 to 23.3).'
        """
        if not self.changes:
            most = 100 * (1 - _MOST_UNSEEN ** (1 / self.n_samples))  # the rule of three, exactly
            probed = f"{self.n_samples} samples asked twice got the same answers"
            return f"Asking again changes nothing: {probed}, so fewer than {most:.1f} % change (95 %)."
        low, high = (f"{100 * bound:.1f}" for bound in self.ci)
        if self.beyond < 0:
            opening = f"S {100 * sensitivity:.1f}, and {100 * self.sensitivity:.1f} by asking again alone: "
            return f"{opening}nothing beyond that (95 %: {low} to {high})."
        opening = f"S {100 * sensitivity:.1f}, of it {100 * self.sensitivity:.1f} by asking again: "
        return f"{opening}{100 * self.beyond:.1f} beyond that (95 %: {low} to {high})."


def flipped(predictions: Predictions) -> NDArray[np.bool_]:
    """Which samples are answered differently in some column than in the first: (N,)."""
    return np.asarray((predictions.places != predictions.places[:, :1]).any(axis=1))


def compare_reruns(first: Predictions, again: Predictions) -> Reruns:
    """Compare S with that of reruns of the same samples, as many reruns as `first` has wordings."""
    paired = compare_scores(
        again.scored,
        first.scored,
        np.zeros(len(first.samples), dtype=np.int64),  # S needs no labels
        first.n_classes,
        similarity=again.similarity,
        second_similarity=first.similarity,
    )["sensitivity"]
    n_samples, n_askings = again.array.shape
    return Reruns(float(again.sensitivities.mean()), paired.difference, (paired.low, paired.high), n_samples, n_askings)


def no_reruns(first: Predictions, n_probed: int) -> Reruns:
    """The result if no sample of a probe changed its answer: all of S comes from the wordings."""
    no_labels = np.zeros(len(first.samples), dtype=np.int64)
    interval = score_intervals(first.scored, no_labels, first.n_classes, similarity=first.similarity)["sensitivity"]
    return Reruns(0.0, interval.estimate, interval.bounds, n_probed, 2)


DRIFT_ALPHA = 0.05
"""The chance of reporting a shift of any measure where there is none: the tests share it by Holm's method."""
_DRAWS, _AT_ONCE = 9_999, 500  # permutations, so that p is at least 1e-4; permutations in memory at once
_SEED = 42  # the same data give the same p


@dataclass(frozen=True, slots=True)
class Shift:
    """How far a measure of fresh answers lies from that of known ones."""

    measure: str  # ``sensitivity``, ``label_shares`` or ``posix``
    before: float | None  # None, as `after`, for label shares
    after: float | None
    p_value: float
    level: float = DRIFT_ALPHA  # what the p-value was compared with
    is_seen: bool = False
    shares: tuple[dict[str, float], dict[str, float]] = ({}, {})  # of each label, including N/A; only for label shares


def shifts(recorded: Predictions, fresh: Predictions) -> list[Shift]:
    """Test by permutation of texts whether fresh answers differ in S, in label shares, and in POSIX if it is known."""
    tests = [_of_means("sensitivity", recorded.sensitivities, fresh.sensitivities)]
    if recorded.answers.open is None:
        votes = (of.counts.argmax(axis=1) for of in (recorded, fresh))
        counts = [np.bincount(of, minlength=recorded.n_classes) for of in votes]  # how many samples vote for each class
        before, after = (dict(zip(recorded.class_names, (of / of.sum()).tolist(), strict=True)) for of in counts)
        tests.append(Shift("label_shares", None, None, share_shift(*counts), shares=(before, after)))
    posix = sample_posix_of(recorded), sample_posix_of(fresh)
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
