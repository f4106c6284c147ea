"""Bootstrap intervals of the three objectives, over samples, over rephrasings, or over both."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ._inputs import read_choice, read_fraction, read_labels, read_n_classes, read_predictions, read_size
from ._replicates import CHUNK_ENTRIES, SCORES, hard_answers
from ._resampling import RESAMPLED, bootstrap_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Interval(NamedTuple):
    """An estimate and the bounds of its interval."""

    estimate: float
    low: float
    high: float

    @property
    def bounds(self) -> tuple[float, float]:
        """(low, high)."""
        return self.low, self.high


def bootstrap_ci(
    predictions: ArrayLike,
    y: ArrayLike,
    n_classes: int,
    *,
    resample: str = "both",
    n_replicates: int = 1000,
    confidence: float = 0.95,
    seed: int = 42,
) -> dict[str, Interval]:
    """Bootstrap intervals of micro-F1, sensitivity and pooled consistency.

    Each replicate draws samples, rephrasings or both with replacement. Drawing rephrasings twice makes the answers to a sample
    look more alike than they are, so S of the replicates is biased low and C_y biased likewise; the percentile interval is
    therefore moved so that the replicates' mean falls on the estimate, and cut to [0, 1].

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers in [0, n_classes), N/A last.
    y : (n_samples,) int
        True labels.
    n_classes : int
        Number of classes C, N/A included.
    resample : {"both", "samples", "rephrasings"}
        What a new experiment would draw anew.
    n_replicates : int
    confidence : float
        In (0, 1).
    seed : int
        The same seed gives the same intervals.

    Returns
    -------
    dict of str to Interval
        Keys ``f1``, ``sensitivity``, ``consistency``.

    Examples
    --------
    >>> bootstrap_ci([[0, 0], [1, 1], [1, 1]], [0, 1, 1], 3)["f1"]
    Interval(estimate=1.0, low=1.0, high=1.0)
    """
    n_classes = read_n_classes(n_classes)
    answers = read_predictions(predictions, n_classes)
    labels = read_labels(y, len(answers), n_classes)
    read_choice(resample, "resample", RESAMPLED)
    n_replicates = read_size(n_replicates, "n_replicates")
    tail = (1 - read_fraction(confidence, "confidence")) / 2
    prepared = hard_answers(answers, labels, n_classes)
    n_samples, n_rephrasings = answers.shape
    estimate = prepared.scores(np.ones((1, n_samples)), np.ones((1, n_rephrasings)))[0]
    chunk = max(1, CHUNK_ENTRIES // (n_samples * n_classes))
    weights = bootstrap_weights(n_samples, n_rephrasings, resample, n_replicates, seed, chunk)
    replicates = np.concatenate([prepared.scores(*both) for both in weights])
    moved = np.quantile(replicates, [tail, 1 - tail], axis=0) + estimate - replicates.mean(axis=0)
    low, high = np.clip(moved, 0, 1)
    return {
        name: Interval(float(estimate[k]), float(min(low[k], estimate[k])), float(max(high[k], estimate[k])))
        for k, name in enumerate(SCORES)
    }
