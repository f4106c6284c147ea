"""How steady an answer is that several wordings vote on, and how often steady enough answers are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from psopt.evaluation._predictions import NA
from psopt.metrics import sample_sensitivity

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

NO_LABEL = -1.0
"""The steadiness of answers that name no label: they are never kept."""
ALPHA = 0.05
"""The chance that a bound on the errors is exceeded."""
_TIE = 1e-6  # distinct levels of S differ by more
_ROUNDING = 1e-9  # tolerance for shares that are sums of floats
_STEPS = 10  # most thresholds tested: with more of them, one is likelier to fail by chance and end the sequence
_LEAST_SHARE = 0.25  # share of val that the first threshold keeps: with fewer, a single error would end the sequence


class Votes(NamedTuple):
    """What several wordings vote for, for each of N samples."""

    answers: list[str]  # on a tie, the first in the labels' order
    shares: Floats  # of the wordings that gave it, (N,) in (0, 1]
    sensitivities: Floats  # S of the answers, ignoring probabilities, (N,) in [0, 1]; 0 under one wording
    # 1 - S of each sample's answers, (N,) in [0, 1]; -1 if most wordings name no label. With equal S, the steadier one
    # is that whose label has the higher mean probability, or without probabilities the larger share of the vote
    # (`experiments/confidence.py`).
    steadiness: Floats


def votes(predictions: Predictions) -> Votes:
    """Return what most wordings answered to each sample, and how steadily."""
    n_samples = len(predictions.samples)
    counts = predictions.counts
    if predictions.answers.open is not None:
        most = [next(iter(predictions.answers_to(row).items())) for row in range(n_samples)]
        answers = [answer for answer, _ in most]
        shares = np.array([n for _, n in most]) / predictions.n_rephrasings
    else:
        answers = [predictions.class_names[place] for place in counts.argmax(axis=1)]
        shares = counts.max(axis=1) / counts.sum(axis=1)
    spreads = np.zeros(n_samples)
    if predictions.n_rephrasings > 1:
        spreads = sample_sensitivity(counts, similarity=predictions.similarity)
    tie = shares
    if predictions.probabilities is not None:
        means = predictions.probabilities.mean(axis=1)
        tie = means[np.arange(n_samples), counts.argmax(axis=1)]
    steady = np.round(1 - spreads, 6) - _TIE * (1 - tie)
    is_na = [answer == NA for answer in answers]
    return Votes(answers, shares, spreads, np.where(is_na, NO_LABEL, steady))


def vote_is_right(predictions: Predictions) -> Bools:
    """Whether the majority answer is right: (N,), for samples with a single label each."""
    return np.asarray(predictions.counts.argmax(axis=1) == predictions.truth)


@dataclass(frozen=True, slots=True)
class Kept:
    """How often steady enough answers are right, on some labelled samples."""

    n: int  # samples
    n_kept: int
    n_wrong: int  # among the kept ones
    least: float  # the least steadiness that is kept

    @property
    def share(self) -> float:
        """The share of samples kept: the coverage."""
        return self.n_kept / self.n

    @property
    def f1(self) -> float:
        """Micro-F1 of the kept answers, which is the share that is right; NaN if none is kept."""
        return 1 - self.n_wrong / self.n_kept if self.n_kept else float("nan")

    @property
    def least_f1(self) -> float:
        """Its lower bound, at 95 %."""
        return 1 - most_error(self.n_wrong, self.n_kept)


def kept_from(steady: Floats, right: Bools, least: float) -> Kept:
    """How often answers of at least this steadiness are right."""
    is_kept = is_steady(steady, least)
    return Kept(len(steady), int(is_kept.sum()), int((is_kept & ~right).sum()), least)


def is_steady(steady: Floats, least: float) -> Bools:
    """Which answers are kept: those that name a label and have at least this steadiness."""
    return np.asarray((steady >= least - _ROUNDING) & (steady > NO_LABEL))


def most_error(n_wrong: int, n: int) -> float:
    """The largest share of errors consistent with n_wrong of n, one-sided at 95 % (Clopper and Pearson, 1934)."""
    from scipy.special import betaincinv

    return 1.0 if n_wrong >= n else float(betaincinv(n_wrong + 1, n - n_wrong, 1 - ALPHA))


def fewest_kept(error: float) -> int:
    """How many samples, all answered correctly, show that the share of errors is at most this."""
    return int(np.ceil(np.log(ALPHA) / np.log1p(-error)))


def risk_coverage(steady: Floats, right: Bools, steps: int = 20) -> list[Kept]:
    """How often answers are right as more are kept, the steadiest first; about twenty points, or one per level."""
    levels = _levels(steady)
    n_kept = [int(is_steady(steady, level).sum()) for level in levels]
    places = _thinned(n_kept, len(steady), steps)
    return [kept_from(steady, right, levels[place]) for place in places]


def level_for_rate(steady: Floats, rate: float) -> float:
    """The highest steadiness below which at most this share of the answers lies.

    Equally steady answers stay together, and those without a label count as dropped.
    """
    levels = _levels(steady)
    left = [1 - is_steady(steady, level).mean() for level in levels]
    least = levels[-1] if levels else 1.0
    return next((level for level, share in zip(levels, left, strict=True) if share <= rate + _ROUNDING), least)


def level_for_error(steady: Floats, right: Bools, error: float) -> Kept | None:
    """The lowest steadiness from which on the share of errors is surely at most this; None if there is none.

    Thresholds are tested one by one, from the steadiest answers downwards, each at 5 %, until the first that fails. The
    sequence is fixed, so the chance of returning one that errs more is 5 % however many are tested (Angelopoulos et
    al., *Learn then test*, 2021). Which thresholds are tested depends on the answers, not on labels: about one per
    tenth of the samples, from the first that keeps a quarter of them and could pass at all.
    """
    passed = None
    for threshold in sequence(steady, right, error):
        if most_error(threshold.n_wrong, threshold.n_kept) > error:
            break
        passed = threshold
    return passed


def sequence(steady: Floats, right: Bools, error: float) -> list[Kept]:
    """Return the thresholds that `level_for_error` tests, the steadiest first; empty if no answer names a label."""
    points = risk_coverage(steady, right, _STEPS)
    first = max(fewest_kept(error), _LEAST_SHARE * len(steady))
    return [point for point in points if point.n_kept >= first] or points[-1:]


def _levels(steady: Floats) -> list[float]:
    """The distinct levels of steadiness of answers that name a label, the highest first."""
    distinct = np.unique(np.round(steady[steady > NO_LABEL], 9))
    return [float(level) for level in distinct[::-1]]


def _thinned(n_kept: list[int], n: int, steps: int) -> list[int]:
    """Indices of at most `steps` levels, each the first to keep one more part of the samples; the last is included.

    >>> _thinned([60, 70, 75, 100], 100, 10), _thinned([1, 2, 3, 4, 5, 6], 6, 3)
    ([0, 1, 3], [1, 3, 5])
    """
    places: list[int] = []
    reached = 0
    for place, n_at_level in enumerate(n_kept):
        part = int(n_at_level * steps / n + _ROUNDING)
        if part > reached or place == len(n_kept) - 1:
            places.append(place)
            reached = part
    return places
