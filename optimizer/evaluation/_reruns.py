"""What asking again changes: S of reruns next to S, and how much of S exceeds it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.metrics import compare_scores, score_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions

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
        """Return it as plain JSON data."""
        return {**asdict(self), "changes": self.changes}

    @property
    def changes(self) -> bool:
        """Whether asking again changes any answer."""
        return self.sensitivity > 0

    def line(self, sensitivity: float) -> str:
        """Say how much of S comes from asking again.

        >>> Reruns(0.031, 0.192, (0.151, 0.233), 500, 10).line(0.223)
        'S 22.3, of it 3.1 by asking again: 19.2 beyond that (95 %: 15.1 to 23.3).'
        """
        if not self.changes:
            most = 100 * (1 - _MOST_UNSEEN ** (1 / self.n_samples))  # the rule of three, exactly
            probed = f"{self.n_samples} samples asked twice got the same answers"
            return f"Asking again changes nothing: {probed}, so fewer than {most:.0f} % change (95 %)."
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
    """Compare S with that of reruns of the same samples, as many reruns as `first` has wordings.

    The two sets of columns share only their number, so their variances add.
    """
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
