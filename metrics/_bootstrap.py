"""Bootstrap intervals of the three objectives, over samples, over rephrasings, or over both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._answers import SCORES, read_answers
from ._inputs import read_choice, read_size, read_tail
from ._intervals import Interval
from ._joint import joint_scores

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray

RESAMPLED = ("both", "samples", "rephrasings")


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
    `score_intervals` needs no replicates, and is what psopt itself takes.

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
    read_choice(resample, "resample", RESAMPLED)
    tail = read_tail(confidence)
    n_replicates = read_size(n_replicates, "n_replicates")
    n_samples, n_rephrasings, _ = read_answers(predictions, y, n_classes, similarity=similarity).shape
    if resample != "rephrasings" and n_samples < 2:
        raise ValueError("predictions has one sample; to resample samples give 2 or more")
    if resample != "samples" and n_rephrasings < 2:
        raise ValueError("predictions has one rephrasing; give 2 or more, or resample='samples'")
    array, truth = np.asarray(predictions), np.asarray(y)
    kernels = None if similarity is None else np.asarray(similarity)

    def scores(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> list[float]:
        kernel = kernels[rows] if kernels is not None and kernels.ndim == 3 else kernels
        return [*joint_scores(array[rows][:, columns], truth[rows], n_classes, similarity=kernel).values()]

    all_rows, all_columns = np.arange(n_samples), np.arange(n_rephrasings)
    # a stream each, so that what is drawn of the one does not hang on the other
    of_rows, of_columns = np.random.default_rng(seed).spawn(2)
    replicates = [
        scores(
            all_rows if resample == "rephrasings" else of_rows.integers(n_samples, size=n_samples),
            all_columns if resample == "samples" else of_columns.integers(n_rephrasings, size=n_rephrasings),
        )
        for _ in range(n_replicates)
    ]
    estimate = np.array(scores(all_rows, all_columns))
    moved = np.quantile(replicates, [tail, 1 - tail], axis=0) + (estimate - np.mean(replicates, axis=0))
    low, high = np.clip(moved, 0, 1)
    return {
        name: Interval(float(value), float(min(lower, value)), float(max(upper, value)))
        for name, value, lower, upper in zip(SCORES, estimate, low, high, strict=True)
    }
