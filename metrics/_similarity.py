"""Answers that are alike to a degree: the entropy of their similarity kernel, which is Shannon's where none are alike.

Of the shares p of C answers and their similarities W the kernel is K = diag(p)^1/2 W diag(p)^1/2. It has trace 1, and
von Neumann's entropy -tr K ln K. Where W is the identity the eigenvalues are p itself; where all answers are as good as
one, a single eigenvalue is left, and no entropy. The kernel of all Q answers, W / Q, has the same eigenvalues but 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._inputs import as_array
from ._numerics import entropy, plog, row_blocks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_ROUNDING = 1e-9  # by how much a similarity may be off symmetry, and an eigenvalue below 0


def read_similarity(similarity: ArrayLike | None, n_classes: int) -> NDArray[np.float64] | None:
    """A kernel of similarities (C, C): symmetric, in [0, 1], 1 of each answer with itself, positive semidefinite."""
    if similarity is None:
        return None
    array = as_array(similarity, "similarity", (2,), "(n_classes, n_classes)")
    if array.shape != (n_classes, n_classes):
        raise ValueError(f"similarity has shape {array.shape}; with {n_classes} classes it must be {(n_classes,) * 2}")
    kernel: NDArray[np.float64] = array.astype(np.float64)
    if not np.isfinite(kernel).all() or kernel.min() < 0 or kernel.max() > 1:
        raise ValueError("similarity must hold numbers in [0, 1]")
    if np.abs(kernel - kernel.T).max() > _ROUNDING or np.abs(np.diag(kernel) - 1).max() > _ROUNDING:
        raise ValueError("similarity must be symmetric, and 1 of each class with itself")
    if np.linalg.eigvalsh(kernel)[0] < -_ROUNDING * n_classes:
        raise ValueError(
            "similarity is no kernel: an eigenvalue is negative. Similarities that contradict each other (a like b, "
            "b like c, a unlike c) have no entropy; take classes instead, or a kernel such as 1 - distance / range"
        )
    return kernel


def answer_entropy(
    table: NDArray[Any], n_draws: int | None, similarity: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Entropy in nats along the last axis, of counts out of n_draws or of shares, by the kernel of similarities.

    >>> counts = np.array([[2, 2], [4, 0]])
    >>> answer_entropy(counts, 4, np.array([[1, 0.5], [0.5, 1]])).round(3)
    array([0.562, 0.   ])
    """
    if similarity is None:
        return entropy(table, n_draws)
    shares = table.reshape(-1, table.shape[-1]) / (n_draws or 1)
    rows, place = np.unique(shares, axis=0, return_inverse=True)  # few answers have few tables
    return np.asarray(_of_rows(rows, similarity)[place.reshape(-1)].reshape(table.shape[:-1]))


def _of_rows(shares: NDArray[np.float64], similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the answers that are given at all: at most Q, however many classes there are."""
    n_given = int(np.count_nonzero(shares, axis=1).max())
    nats = np.zeros(len(shares))
    for block in row_blocks(len(shares), n_given * n_given):
        given = np.argsort(-shares[block], axis=1, kind="stable")[:, :n_given]
        roots = np.sqrt(np.take_along_axis(shares[block], given, axis=1))
        kernel = roots[:, :, None] * similarity[given[:, :, None], given[:, None, :]] * roots[:, None, :]
        eigenvalues = np.clip(np.linalg.eigvalsh(kernel), 0.0, 1.0)
        nats[block] = plog(eigenvalues).sum(axis=1)
    nats[np.count_nonzero(shares, axis=1) == 1] = 0.0  # rounding shall not show
    return nats


def jackknifed_answer_entropy(
    counts: NDArray[Any], n_draws: int, similarity: NDArray[np.float64]
) -> NDArray[np.float64]:
    """As `jackknifed_entropy`, by the kernel: Q H - (Q - 1) mean H without one draw; (N, C) -> (N,)."""
    without = np.zeros(len(counts))
    for label in range(counts.shape[1]):
        rows = np.flatnonzero(counts[:, label])
        fewer = counts[rows].copy()
        fewer[:, label] -= 1
        if len(rows):
            without[rows] += counts[rows, label] / n_draws * answer_entropy(fewer, n_draws - 1, similarity)
    return np.asarray(n_draws * answer_entropy(counts, n_draws, similarity) - (n_draws - 1) * without)
