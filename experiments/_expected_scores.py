"""What S, C_y and F1 are on average, from answer distributions: in the limit of many rephrasings, and at Q of them.

With Q rephrasings F1 keeps its mean; S is too low, by about (m - 1) / (2 Q ln C) for m possible answers, and
C_y is too low, since two texts of one distribution still differ by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.models.sim import SimulatedModel
    from psopt.search_spaces import Prompt

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ExpectedScores:
    """Micro-F1, S and C_y, pooled over the classes; each in [0, 1]."""

    f1: float
    sensitivity: float
    consistency: float


def expected_scores(profiles: Floats, truth: NDArray[np.int64], n_rephrasings: int | None = None) -> ExpectedScores:
    """Return the mean scores of independent answers drawn from (N, C) distributions.

    Parameters
    ----------
    profiles : (N, C) float
        p(c | text), of N different texts.
    truth : (N,) int
        Their labels.
    n_rephrasings : int, optional
        Q; by default the limit Q -> infinity.
    """
    f1 = profiles[np.arange(len(truth)), truth].mean()
    entropies = np.zeros(len(profiles))
    classes = [np.flatnonzero(truth == label) for label in np.unique(truth)]
    differences = 0.0
    for column in profiles.T:  # entropy and total variation are sums over the classes
        if n_rephrasings is None:
            entropies -= xlogy(column, column)
            differences += sum(_pairwise(column[of_class]) for of_class in classes)
        else:
            chances = _binomial(column, n_rephrasings)
            shares = np.arange(n_rephrasings + 1) / n_rephrasings
            entropies -= chances @ xlogy(shares, shares)
            differences += sum(_pairwise_counts(chances[of_class]) for of_class in classes)
    sensitivity = entropies.mean() / np.log(profiles.shape[1])
    n_pairs = sum(len(of_class) ** 2 for of_class in classes)
    return ExpectedScores(float(f1), float(sensitivity), float(1 - differences / 2 / n_pairs))


def _pairwise(values: Floats) -> float:
    """Sum of |a - b| over all ordered pairs."""
    ranks = np.arange(len(values))
    return float(2 * np.sum((2 * ranks - len(values) + 1) * np.sort(values)))


def _pairwise_counts(chances: Floats) -> float:
    """Sum of E|K - K'| / Q over all ordered pairs of different, independent counts, from their (n, Q + 1) chances.

    E|K - K'| = sum_k F(k) (1 - F'(k)) + F'(k) (1 - F(k)), so that all pairs take one pass.
    """
    below = np.cumsum(chances, axis=1)[:, :-1]
    everyone = below.sum(axis=0) * (1 - below).sum(axis=0)
    oneself = (below * (1 - below)).sum(axis=0)
    return float(2 * np.sum(everyone - oneself) / below.shape[1])


def _binomial(p: Floats, n: int) -> Floats:
    """Chances of 0 to n hits: (len(p), n + 1)."""
    k = np.arange(n + 1)
    choices = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(choices + xlogy(k, p[:, None]) + xlog1py(n - k, -p[:, None])))


def expected_of(
    model: SimulatedModel, prompt: Prompt, texts: Sequence[str], labels: Sequence[str], n_rephrasings: int | None = None
) -> ExpectedScores:
    """Return F1, S and C_y averaged over all possible draws under a prompt, given the labels of N texts."""
    truth = np.array([prompt.labels.index(label) for label in labels])
    return expected_scores(model.profiles(prompt, texts), truth, n_rephrasings)
