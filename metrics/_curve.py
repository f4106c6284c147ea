"""How many rephrasings are enough: S and C_y as a function of Q, by subsampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._answers import SCORES, read_either
from ._inputs import read_choice, read_labels, read_size, read_tail
from ._joint import joint_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class RephrasingCurve:
    """Scores as a function of the number of rephrasings.

    Attributes
    ----------
    sizes : (n_sizes,) int
        Numbers of rephrasings, ascending.
    mean, low, high : dict of str to (n_sizes,) float64
        Mean over subsets and bounds of the interval in which the score of so many *new* rephrasings is
        expected. Keys ``f1``, ``sensitivity``, ``consistency``. Of all the rephrasings there is only one
        subset: the bounds are NaN there.
    """

    sizes: NDArray[np.int64]
    mean: dict[str, NDArray[np.float64]]
    low: dict[str, NDArray[np.float64]]
    high: dict[str, NDArray[np.float64]]

    def enough(self, score: str, width: float) -> int | None:
        """Least size from which on the score's interval stays narrower than width; None if there is none."""
        read_choice(score, "score", SCORES)
        widths = (self.high[score] - self.low[score])[np.isfinite(self.high[score])]
        n_narrow = int(np.cumprod(widths[::-1] < width).sum())
        return int(self.sizes[len(widths) - n_narrow]) if n_narrow else None


def rephrasing_curve(
    predictions: ArrayLike,
    y: ArrayLike,
    n_classes: int,
    *,
    sizes: Sequence[int] | None = None,
    n_subsets: int = 200,
    confidence: float = 0.95,
    seed: int = 42,
) -> RephrasingCurve:
    r"""F1, S and C_y of random subsets of the rephrasings, size by size.

    Subsets are drawn without replacement, because a rephrasing drawn twice would lower S. Large subsets of a
    finite pool share most rephrasings and so vary too little; their deviations from the mean are divided by
    :math:`\sqrt{1 - q/Q}`, the finite population correction.

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int, or (n_samples, n_rephrasings, n_classes) float
        Class numbers in [0, n_classes), N/A last; or probabilities.
    y : (n_samples,) int
        True labels in [0, n_classes).
    n_classes : int
        Number of classes C, N/A included.
    sizes : sequence of int, optional
        Numbers of rephrasings to try, between 2 and n_rephrasings. By default all of them.
    n_subsets : int
        Subsets of each size.
    confidence : float
        In (0, 1).
    seed : int
        The same seed gives the same curve.

    Returns
    -------
    RephrasingCurve

    Examples
    --------
    >>> predictions = [[0, 0, 0, 1], [1, 1, 1, 1], [1, 1, 1, 1]]
    >>> curve = rephrasing_curve(predictions, [0, 1, 1], n_classes=2)
    >>> curve.sizes
    array([2, 3, 4])
    >>> curve.mean["sensitivity"].round(1)
    array([0.2, 0.2, 0.3])
    >>> curve.enough("sensitivity", width=1.0)
    2
    """
    chosen, probabilities = read_either(predictions, n_classes)
    answers = chosen if probabilities is None else probabilities
    truth = read_labels(y, len(chosen), n_classes)
    tail = read_tail(confidence)
    n_subsets = read_size(n_subsets, "n_subsets", least=2)
    n_rephrasings = chosen.shape[1]
    tried = _read_sizes(sizes, n_rephrasings)
    stream = np.random.default_rng(seed)
    summaries = []
    for size in tried:
        subsets = stream.random((n_subsets if size < n_rephrasings else 1, n_rephrasings)).argsort(axis=1)[:, :size]
        scores = np.array([[*joint_scores(answers[:, of], truth, n_classes).values()] for of in subsets])
        mean = scores.mean(axis=0)
        bounds = np.full((2, len(SCORES)), np.nan)
        if size < n_rephrasings:
            deviations = np.quantile(scores - mean, [tail, 1 - tail], axis=0) / np.sqrt(1 - size / n_rephrasings)
            bounds = np.clip(mean + deviations, 0, 1)
        summaries.append([mean, *bounds])
    by_score = np.array(summaries).transpose(1, 2, 0)  # (mean low high, score, size)
    mean, low, high = (dict(zip(SCORES, rows, strict=True)) for rows in by_score)
    return RephrasingCurve(np.array(tried), mean, low, high)


def _read_sizes(sizes: Sequence[int] | None, n_rephrasings: int) -> list[int]:
    if n_rephrasings < 2:
        raise ValueError("predictions has one rephrasing; a curve needs 2 or more")
    tried = sorted({read_size(size, "sizes", least=2) for size in sizes or range(2, n_rephrasings + 1)})
    if tried[-1] > n_rephrasings:
        raise ValueError(f"sizes holds {tried[-1]}, but predictions has {n_rephrasings} rephrasings")
    return tried
