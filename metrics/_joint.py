"""The three scores, to be read together because S and C_y alone can be gamed, and the scores of noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._consistency import consistency, sample_consistency
from ._counts import prediction_counts
from ._f1 import micro_f1
from ._inputs import read_either, read_labels, read_n_classes, read_predictions, read_size
from ._sensitivity import sample_sensitivity, sensitivity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def joint_scores(predictions: ArrayLike, y: ArrayLike, n_classes: int) -> dict[str, float]:
    """Micro-F1, sensitivity and pooled consistency: the point on the front (E25, table 1).

    A constant answer has S = 0 and C_y = 1, a random one S near 1 and C_y near 1: only F1 exposes them.

    Parameters
    ----------
    predictions, y, n_classes
        As in `score_intervals`; of probabilities F1 uses the largest.

    Returns
    -------
    dict of str to float
        Keys ``f1``, ``sensitivity``, ``consistency``: the results of `micro_f1`, `sensitivity`, `consistency`.

    Examples
    --------
    >>> joint_scores([[0, 0], [0, 0]], [0, 1], n_classes=2)
    {'f1': 0.5, 'sensitivity': 0.0, 'consistency': 1.0}
    """
    predicted, probabilities = read_either(predictions, n_classes)
    y = read_labels(y, len(predicted), n_classes)
    table = prediction_counts(predicted, n_classes) if probabilities is None else probabilities.mean(axis=1)
    return {
        "f1": micro_f1(predicted, y),
        "sensitivity": sensitivity(table),
        "consistency": consistency(table, y),
    }


@dataclass(frozen=True)
class Reference:
    """A reference predictor's scores, as the functions of these names give them.

    The two arrays, (n_samples,), are the axes of appendix A's plot.
    """

    f1: float
    sensitivity: float
    consistency: float
    sample_sensitivity: NDArray[np.float64]
    sample_consistency: NDArray[np.float64]


def noised_predictions(
    predictions: ArrayLike, n_classes: int, share: float = 0.5, *, seed: int = 42
) -> NDArray[np.int64]:
    """Replace a random share of the answers by random classes (E25, appendix A).

    Parameters
    ----------
    predictions : (n_samples, n_rephrasings) int
        Class numbers in [0, n_classes), N/A last.
    n_classes : int
        Number of classes C, N/A included. A replaced answer is any of them, including the old one and N/A.
    share : float
        In [0, 1]: the chance that an answer is replaced. 1: the random predictor.
    seed : int
        The same seed gives the same noise.

    Returns
    -------
    (n_samples, n_rephrasings) int64

    Examples
    --------
    >>> noised_predictions([[0, 1, 2]], n_classes=3, share=0.0)
    array([[0, 1, 2]])
    """
    n_classes = read_n_classes(n_classes)
    answers = read_predictions(predictions, n_classes)
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share!r}; it must lie in [0, 1]")
    stream = np.random.default_rng(read_size(seed, "seed", 0))
    replaced = stream.random(answers.shape) < share
    return np.where(replaced, stream.integers(n_classes, size=answers.shape), answers).astype(np.int64)


def reference_scores(predictions: ArrayLike, y: ArrayLike, n_classes: int, *, seed: int = 42) -> dict[str, Reference]:
    """Score the predictor, the same with half of its answers random, and a completely random one (E25, appendix A).

    Parameters
    ----------
    predictions, n_classes, seed
        As in `noised_predictions`.
    y : (n_samples,) int
        True labels in [0, n_classes).

    Returns
    -------
    dict of str to Reference
        Keys ``predictor``, ``half_noised``, ``random``. Entropy is biased low, so the random predictor's S stays
        below 1: it is the top of the scale at this number of rephrasings.

    Examples
    --------
    >>> references = reference_scores([[0] * 30] * 100, [0] * 100, n_classes=3)
    >>> [round(reference.sensitivity, 1) for reference in references.values()]
    [0.0, 0.8, 1.0]
    """
    n_classes = read_n_classes(n_classes)
    answers = read_predictions(predictions, n_classes)
    labels = read_labels(y, len(answers), n_classes)
    shares = {"predictor": 0.0, "half_noised": 0.5, "random": 1.0}
    return {
        name: _reference(noised_predictions(answers, n_classes, share, seed=seed), labels, n_classes)
        for name, share in shares.items()
    }


def _reference(predictions: NDArray[Any], y: NDArray[Any], n_classes: int) -> Reference:
    counts = prediction_counts(predictions, n_classes)
    return Reference(
        **joint_scores(predictions, y, n_classes),
        sample_sensitivity=sample_sensitivity(counts),
        sample_consistency=sample_consistency(counts, y),
    )
