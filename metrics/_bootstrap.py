"""Bootstrap intervals of the three objectives, over samples, over rephrasings, or over both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._inputs import read_choice, read_fraction, read_size
from ._intervals import Interval
from ._replicates import (
    RESAMPLED,
    SCORES,
    Answers,
    bootstrap_weights,
    read_answers,
    replicate_scores,
    replicates_at_once,
)

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray


def bootstrap_ci(
    predictions: ArrayLike,
    y: ArrayLike,
    n_classes: int,
    *,
    resample: Literal["both", "samples", "rephrasings"] = "both",
    n_replicates: int = 1000,
    confidence: float = 0.95,
    seed: int = 42,
    similarity: ArrayLike | None = None,
) -> dict[str, Interval]:
    """Bootstrap intervals of micro-F1, sensitivity and pooled consistency in one go.

    Each replicate draws samples, rephrasings or both with replacement. A rephrasing drawn twice agrees with
    itself, and a sample drawn twice with itself, so replicates have lower S and higher C_y than the data. The
    percentile interval is therefore moved until the replicates' mean falls on the estimate, then cut to [0, 1].
    In simulations its 95 % over both cover the truth of F1 and C in 91 to 99 % of the cases, and that of S in 90 %
    where wordings matter; over rephrasings alone, in 67 to 100 %. Unmoved, S is covered in 62 to 93 %.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int, or (n_samples, n_rephrasings, n_classes) float
        Class numbers in [0, n_classes), N/A last; or probabilities.
    y : (n_samples,) int
        True labels in [0, n_classes).
    n_classes : int
        Number of classes C, N/A included.
    resample : "both", "samples" or "rephrasings"
        What a new experiment would draw anew.
    n_replicates : int
        Bootstrap replicates.
    confidence : float
        In (0, 1).
    seed : int
        The same seed gives the same intervals.
    similarity : (n_classes, n_classes) float, or (n_samples, n_classes, n_classes) float, optional
        Of S, as in `sample_sensitivity`.

    Returns
    -------
    dict of str to Interval
        Keys ``f1``, ``sensitivity``, ``consistency``. For S and C_y at this number of rephrasings. A score that
        no replicate changes (a constant answer) has an interval of width 0: the bootstrap knows only what it saw.

    Raises
    ------
    ValueError
        Also if there is a single one of what is resampled, whose scatter nobody can tell.

    References
    ----------
    Owen, *The pigeonhole bootstrap*, 2007, for resampling both ways at once; it errs on the wide side.

    Examples
    --------
    >>> predictions = [[0, 0, 1], [1, 1, 1], [1, 1, 1], [0, 1, 0]]
    >>> interval = bootstrap_ci(predictions, [0, 1, 1, 0], n_classes=3)["f1"]
    >>> interval.estimate, interval.low < interval.estimate < interval.high
    (0.8333333333333334, True)
    """
    answers = read_answers(predictions, y, n_classes, similarity=similarity)
    tail = (1 - read_fraction(confidence, "confidence")) / 2
    estimate, replicates = bootstrap_replicates([answers], resample, n_replicates, seed)
    low, high = np.clip(moved_quantiles(estimate[0], replicates[0], tail), 0, 1)
    return {
        name: Interval(float(value), float(min(lower, value)), float(max(upper, value)))
        for name, value, lower, upper in zip(SCORES, estimate[0], low, high, strict=True)
    }


def bootstrap_replicates(
    prompts: list[Answers], resample: str, n_replicates: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Scores (p, 3) and replicates (p, b, 3) of prompts that share samples, rephrasings and all draws."""
    read_choice(resample, "resample", RESAMPLED)
    n_replicates = read_size(n_replicates, "n_replicates")
    n_samples, n_rephrasings, _ = prompts[0].shape
    if resample != "rephrasings" and n_samples < 2:
        raise ValueError("predictions has one sample; to resample samples give 2 or more")
    if resample != "samples" and n_rephrasings < 2:
        raise ValueError("predictions has one rephrasing; give 2 or more, or resample='samples'")
    once = np.ones((1, n_samples)), np.ones((1, n_rephrasings))
    estimates = [replicate_scores(answers, *once)[0] for answers in prompts]
    chunk = replicates_at_once(prompts[0])
    chunks = [
        [replicate_scores(answers, *weights) for answers in prompts]
        for weights in bootstrap_weights(n_samples, n_rephrasings, resample, n_replicates, seed, chunk)
    ]
    return np.array(estimates), np.concatenate(chunks, axis=1)


def moved_quantiles(estimate: NDArray[np.float64], replicates: NDArray[np.float64], tail: float) -> NDArray[np.float64]:
    """Lower and upper quantile of the replicates (b, k), moved so that their mean is the estimate: (2, k)."""
    return np.asarray(np.quantile(replicates, [tail, 1 - tail], axis=0) + (estimate - replicates.mean(axis=0)))
