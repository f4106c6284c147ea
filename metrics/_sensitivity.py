"""Sensitivity: how much an answer changes when the task is rephrased, and between which labels. It needs no labels.

It differs from uncertainty, which is how undecided the model is under one fixed wording.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._inputs import read_choice, read_counts, read_probabilities
from ._numerics import entropy, jackknifed_entropy
from ._similarity import answer_entropy, jackknifed_answer_entropy, read_similarity

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray

    from ._inputs import Floats


def sample_sensitivity(
    counts: ArrayLike,
    *,
    normalize: bool = True,
    correction: Literal["jackknife"] | None = None,
    similarity: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Sensitivity of each sample: the entropy of its answers over the rephrasings (E25, eq. (3)).

        S_tau(x) = -sum_y p_tau(y|x) ln p_tau(y|x) / ln C

    Parameters
    ----------
    counts : (n_samples, n_classes) int or float
        Integers: counts, from `prediction_counts`. Floats: p_tau, from `prediction_distribution`.
    normalize : bool
        Divide by ln C, where N/A counts as a class, so that S lies in [0, 1]. False: nats.
    correction : "jackknife" or None
        The entropy of Q answers is biased low: estimate it at infinitely many wordings (Zahl, 1977). At Q = 10 the
        plain value reaches 70 to 77 % of S at infinitely many wordings, the jackknife's 86 to 91 %
        (benchmarks/coverage.md). Needs counts of 2 answers or more. A corrected, normalised value may exceed 1; cutting
        it would bias it again.
    similarity : (n_classes, n_classes) float, or (n_samples, n_classes, n_classes) float, optional
        How alike two answers are, in [0, 1], if they can be partly alike: ordered labels, sets, texts. A kernel
        (positive semidefinite, 1 for each answer with itself) for all samples, or one per sample: open answers are not
        classes, and are numbered per sample. The entropy is then von Neumann's, -tr K ln K, of K = W / Q over the Q
        answers (Nikitin, Kossen, Gal and Marttinen, *Kernel language entropy*, 2024); without similarities it equals
        that of E25 up to rounding.

    Returns
    -------
    (n_samples,) float64
        0: always the same answer. 1: all classes equally often.

    Examples
    --------
    >>> sample_sensitivity([[4, 0], [2, 2]])
    array([0., 1.])

    Three ordered labels, whose neighbours are half alike:

    >>> near = [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    >>> sample_sensitivity([[2, 2, 0], [2, 0, 2]], similarity=near).round(2)
    array([0.51, 0.63])
    """
    read_choice(correction, "correction", (None, "jackknife"))
    table, n_rephrasings = read_counts(counts)
    kernel = read_similarity(similarity, *table.shape)
    if correction is None:
        nats = answer_entropy(table, n_rephrasings, kernel)
    else:
        nats = _jackknifed(table, n_rephrasings, kernel)
    if not normalize:
        return nats
    nats /= np.log(table.shape[1])
    if correction is not None:
        return nats
    return np.minimum(nats, 1.0)  # uniform rows exceed 1 by rounding


def _jackknifed(table: NDArray[Any], n_rephrasings: int | None, kernel: Floats | None) -> Floats:
    if n_rephrasings is None:
        raise ValueError("correction needs counts (integers): probabilities don't tell how many answers")
    if n_rephrasings < 2:
        raise ValueError("correction is 'jackknife', and counts holds one answer a sample; it needs 2 or more")
    if kernel is not None:
        return jackknifed_answer_entropy(table, n_rephrasings, kernel)
    return jackknifed_entropy(table, n_rephrasings)


def sensitivity(
    counts: ArrayLike,
    *,
    normalize: bool = True,
    correction: Literal["jackknife"] | None = None,
    similarity: ArrayLike | None = None,
) -> float:
    """Sensitivity of a prompt (E25, eq. (4)): the mean of `sample_sensitivity`. Lower is better.

        S_tau = 1/N sum_i S_tau(x_i)

    Parameters
    ----------
    counts, normalize, correction, similarity
        As in `sample_sensitivity`.

    Returns
    -------
    float
        In [0, 1] by default. It grows with Q: compare only values at the same Q. A constant answer has 0, so read it
        together with F1.

    Examples
    --------
    >>> sensitivity([[4, 0], [2, 2]])
    0.5
    """
    return float(sample_sensitivity(counts, normalize=normalize, correction=correction, similarity=similarity).mean())


@dataclass(frozen=True)
class FlipPair:
    """Two labels that samples change between, the lower number first."""

    first: int
    second: int
    n_samples: int  # samples whose two most frequent answers these are
    share: float  # n_samples over all samples


def flip_pairs(counts: ArrayLike) -> list[FlipPair]:
    """List the pairs of labels that samples change between, the most common first.

    A sample changes between its two most frequent answers; on a tie, the lower number counts. Mean probabilities are
    hardly ever 0, so by them nearly every sample changes: give counts.

    Parameters
    ----------
    counts
        As in `sample_sensitivity`.

    Returns
    -------
    list of FlipPair
        Sorted by n_samples, then by label. Empty if no sample changes.

    Examples
    --------
    >>> for pair in flip_pairs([[1, 0, 3], [3, 0, 1], [0, 2, 2], [4, 0, 0]]):
    ...     print(pair.first, pair.second, pair.n_samples, pair.share)
    0 2 2 0.5
    1 2 1 0.25
    """
    table, _ = read_counts(counts)
    n_samples, n_classes = table.shape
    most = table.argmax(axis=1)
    others = table.astype(np.float64)  # a copy, signed
    others[np.arange(n_samples), most] = -1
    runner_up = others.argmax(axis=1)
    pairs = np.minimum(most, runner_up) * n_classes + np.maximum(most, runner_up)
    sizes = np.bincount(pairs[others.max(axis=1) > 0])
    by_size = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    return [
        FlipPair(pair // n_classes, pair % n_classes, int(sizes[pair]), float(sizes[pair] / n_samples))
        for pair in by_size.tolist()
    ]


def uncertainty(probabilities: ArrayLike, *, normalize: bool = False) -> NDArray[np.float64]:
    """Entropy of the model's class probabilities, answer by answer (E25, eq. (8)).

        U(x, rho) = -E_{y ~ p(.|x,rho)} ln p(y|x,rho)

    Parameters
    ----------
    probabilities : (n_samples, n_rephrasings, n_classes) or (n_samples, n_classes) float
        p(y|x, rho); the last axis sums to 1. Hard predictions carry no uncertainty and are refused.
    normalize : bool
        Divide by ln C, to compare with sensitivity. False, as in the paper: nats.

    Returns
    -------
    (n_samples, n_rephrasings) or (n_samples,) float64
        0: sure.

    Examples
    --------
    >>> uncertainty([[[1.0, 0.0], [0.5, 0.5]]]).round(3)
    array([[0.   , 0.693]])
    """
    read = read_probabilities(probabilities, ndims=(2, 3))
    nats = entropy(read, None)
    return np.minimum(nats / np.log(read.shape[-1]), 1.0) if normalize else nats
