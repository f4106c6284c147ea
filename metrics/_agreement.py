"""Consistency rate: how often two rephrasings agree on a sample, right or wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._inputs import read_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def consistency_rate(counts: ArrayLike) -> float:
    """Share of the pairs of rephrasings that give a sample the same answer. Higher is better.

        CR = 1/N sum_i sum_c n_ic (n_ic - 1) / (Q (Q - 1))

    It needs no labels, and has nothing to do with C_y: that compares samples, this compares answers.

    Parameters
    ----------
    counts : (n_samples, n_classes) int
        Counts of two rephrasings or more. Probabilities are refused: they don't tell how many pairs
        there are.

    Returns
    -------
    float
        In [0, 1]; 1: every sample keeps its answer.

    Examples
    --------
    >>> consistency_rate([[3, 0], [1, 2], [0, 3], [3, 0]])
    0.8333333333333333
    """
    table, n_rephrasings = read_counts(counts)
    if n_rephrasings is None:
        raise ValueError("counts holds probabilities; the consistency rate needs counts (integers)")
    if n_rephrasings < 2:
        raise ValueError("counts has one rephrasing; the consistency rate compares pairs, so give 2 or more")
    shares = table / n_rephrasings
    # in shares, not counts: a small integer dtype would overflow when squared
    equal = np.einsum("ic,ic->", shares, shares) / len(table)
    return float((equal * n_rephrasings - 1) / (n_rephrasings - 1))
