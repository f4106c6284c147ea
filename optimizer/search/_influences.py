"""What each sample and each wording of val does to a candidate's objectives, to first order.

With them val is resampled by linear sums, without a further answer, and the gain of one candidate over another is
tested in all three objectives together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation import consistency_influences, mean_influences, objective_gains, score_objectives
from scipy.special import stdtr

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.search._front import Candidate

    Vector = NDArray[np.float64]

_SURE = 0.05  # Fisher's convention, one-sided, as the gate's


@dataclass(frozen=True, eq=False)
class Influences:
    """A candidate's objectives on val as gains (F1, -S, C if it is defined), and what they owe to sample and wording.

    Attributes
    ----------
    gains : (k,) float
    of_samples : (N, k) float
        What the weight of a sample adds to the gains; the sum over samples is 0.
    of_wordings : (Q, k) float
        The same of wordings, by leaving each out (the jackknife); zeros under one wording.
    """

    gains: Vector
    of_samples: Vector
    of_wordings: Vector

    @classmethod
    def of(cls, predictions: Predictions) -> Influences:
        """Linearise the scores of a whole grid; O(Q) times what its objectives take."""
        return cls(_gains(predictions), _of_samples(predictions), _of_wordings(predictions))

    def resampled(self, samples: Vector, wordings: Vector) -> Vector:
        """Return the gains under new weights: (n, k) of n resamples.

        Parameters
        ----------
        samples : (n, N) float
            How often each sample is drawn, less 1.
        wordings : (n, Q) float
        """
        return np.asarray(self.gains + samples @ self.of_samples + wordings @ self.of_wordings)


def _gains(predictions: Predictions) -> Vector:
    return objective_gains(score_objectives(predictions))


def _of_samples(predictions: Predictions) -> Vector:
    """F1 and S are means over samples; of C it is Hajek's projection, a pair counting for both of its samples."""
    if predictions.answers.open is not None:
        return _of_open_samples(predictions)
    right = predictions.share_right if predictions.quality is None else predictions.quality.mean(axis=1)
    of_means = (np.column_stack([right, -predictions.sensitivities]) / len(right)).astype(float)
    of_consistency = consistency_influences(predictions.consistencies, predictions.truth)
    return np.column_stack([of_means - of_means.mean(axis=0), of_consistency])


def _of_open_samples(predictions: Predictions) -> Vector:
    """The mean quality may be a ratio of sums; C is that of several labels, or not defined."""
    quality = predictions.quality
    if quality is None:
        raise ValueError("of open answers it is known what each is worth")
    _, of_quality = mean_influences(quality, predictions.weights)
    steadiness = -predictions.sensitivities / len(quality)
    columns = [of_quality, steadiness - steadiness.mean()]
    rows = predictions.label_rows
    if rows is not None and rows.consistency is not None:
        columns.append(rows.influences)
    return np.column_stack(columns)


def _of_wordings(predictions: Predictions) -> Vector:
    """By the jackknife: with a wording's weight at 0 the gains are those of the others."""
    n_wordings = predictions.n_rephrasings
    if n_wordings == 1:
        return np.zeros((1, len(_gains(predictions))))
    columns = range(n_wordings)
    without = np.array([_gains(predictions.under([other for other in columns if other != q])) for q in columns])
    return np.asarray((n_wordings - 1) / n_wordings * (without.mean(axis=0) - without))


def is_surely_better(first: Candidate, second: Candidate, on_val: Callable[[Candidate], Predictions]) -> bool:
    """Whether the first has more F1 - S + C than the second on val, by a one-sided paired test at 5 %.

    Samples by linearisation and wordings by the jackknife, with Satterthwaite's degrees of freedom.
    """
    ours, theirs = (Influences.of(on_val(candidate)) for candidate in (first, second))
    gain = float((ours.gains - theirs.gains).sum())
    if gain <= 0:
        return False
    parts = (
        (ours.of_samples - theirs.of_samples).sum(axis=1),
        (ours.of_wordings - theirs.of_wordings).sum(axis=1),
    )
    variances = np.array([_variance(part) for part in parts])
    freedoms = np.array([max(1, len(part) - 1) for part in parts])
    total = float(variances.sum())
    if total == 0:
        return True
    freedom = total**2 / float((variances**2 / freedoms).sum())
    return bool(stdtr(freedom, -gain / np.sqrt(total)) < _SURE)


def _variance(influences: Vector) -> float:
    """Of a sum of influences of n that are drawn independently."""
    n = len(influences)
    return float(n / (n - 1) * (influences**2).sum()) if n > 1 else 0.0
