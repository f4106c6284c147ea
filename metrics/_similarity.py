"""Answers that are partly alike: the entropy of their similarity kernel, which is Shannon's if no two are alike.

For the shares p of C answers and their similarities W the kernel is K = diag(p)^1/2 W diag(p)^1/2. It has trace 1, and
von Neumann's entropy -tr K ln K. If W is the identity, the eigenvalues are p itself; if all answers count as one, a
single eigenvalue remains, and the entropy is 0. The kernel of all Q answers, W / Q, has the same nonzero eigenvalues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._inputs import as_array
from ._numerics import entropy, plog, row_blocks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._inputs import Floats

_ROUNDING = 1e-9  # how far a similarity may miss symmetry, and how far an eigenvalue may be below 0


def read_similarity(similarity: ArrayLike | None, n_samples: int, n_classes: int) -> Floats | None:
    """A kernel (C, C), or one per sample (N, C, C): symmetric, in [0, 1], 1 on the diagonal, positive semidefinite."""
    if similarity is None:
        return None
    shape = "(n_classes, n_classes), or (n_samples, n_classes, n_classes)"
    array = as_array(similarity, "similarity", (2, 3), shape, "biuf", "numbers")
    wanted: tuple[int, ...] = (n_classes, n_classes)
    of_size = f"{n_classes} classes"
    if array.ndim == 3:
        wanted, of_size = (n_samples, *wanted), f"{n_samples} samples and {of_size}"
    if array.shape != wanted:
        raise ValueError(f"similarity has shape {array.shape}; with {of_size} it must be {wanted}")
    kernel: Floats = array.astype(np.float64, copy=False)
    if not np.isfinite(kernel).all() or kernel.min() < 0 or kernel.max() > 1:
        raise ValueError("similarity must hold numbers in [0, 1]")
    of_itself = np.diagonal(kernel, axis1=-2, axis2=-1)
    if np.abs(kernel - kernel.swapaxes(-1, -2)).max() > _ROUNDING or np.abs(of_itself - 1).max() > _ROUNDING:
        raise ValueError("similarity must be symmetric, and 1 of each class with itself")
    if kernel.ndim == 2:
        _check_eigenvalues(np.linalg.eigvalsh(kernel))  # multiple kernels are checked when their entropy is computed
    return kernel


def similarity_of(similarity: Floats | None, rows: NDArray[Any]) -> Floats | None:
    """The kernels of some samples, or the one that all share."""
    return similarity[rows] if similarity is not None and similarity.ndim == 3 else similarity


def _check_eigenvalues(eigenvalues: NDArray[Any]) -> None:
    if eigenvalues.min() < -_ROUNDING * eigenvalues.shape[-1]:
        raise ValueError(
            "similarity is no kernel: an eigenvalue is negative. Similarities that contradict each other (a like b, "
            "b like c, a unlike c) have no entropy; take classes instead, or a kernel such as 1 - distance / range"
        )


def answer_entropy(table: NDArray[Any], n_draws: int | None, similarity: Floats | None) -> Floats:
    """Entropy in nats along the last axis of counts out of n_draws, or of shares, using the similarity kernel.

    If each sample has its own kernel, samples are the second-to-last axis.
    """
    if similarity is None:
        return entropy(table, n_draws)
    shares = table.reshape(-1, table.shape[-1]) / (n_draws or 1)
    if similarity.ndim == 2:
        rows, place = np.unique(shares, axis=0, return_inverse=True)  # few answers form few distinct rows
        nats = _of_rows(rows, similarity[None], np.zeros(len(rows), dtype=np.intp))[place.reshape(-1)]
    else:
        nats = _of_rows(shares, similarity, np.arange(len(shares)) % len(similarity))
    return nats.reshape(table.shape[:-1])


def _of_rows(shares: Floats, similarities: Floats, owners: NDArray[np.intp]) -> Floats:
    """Uses only classes that were answered, at most Q however many exist; each row uses its own kernel."""
    n_given = np.count_nonzero(shares, axis=1)
    nats = np.zeros(len(shares))
    for n in np.unique(n_given[n_given > 1]):  # a single answer has no entropy: hide rounding errors
        of_size = np.flatnonzero(n_given == n)
        for block in row_blocks(len(of_size), int(n * n)):
            rows = of_size[block]
            classes = np.argsort(-shares[rows], axis=1, kind="stable")[:, :n]
            roots = np.sqrt(np.take_along_axis(shares[rows], classes, axis=1))
            alike = similarities[owners[rows, None, None], classes[:, :, None], classes[:, None, :]]
            eigenvalues = np.linalg.eigvalsh(roots[:, :, None] * alike * roots[:, None, :])
            _check_eigenvalues(eigenvalues)
            nats[rows] = plog(np.clip(eigenvalues, 0.0, 1.0)).sum(axis=1)
    return nats


def jackknifed_answer_entropy(counts: NDArray[Any], n_draws: int, similarity: Floats) -> Floats:
    """As `jackknifed_entropy`, with the kernel: Q H - (Q - 1) times the mean H without one draw; (N, C) -> (N,)."""
    without = np.zeros(len(counts))
    for label in range(counts.shape[1]):
        rows = np.flatnonzero(counts[:, label])
        fewer = counts[rows].copy()
        fewer[:, label] -= 1
        if len(rows):
            alike = similarity_of(similarity, rows)
            without[rows] += counts[rows, label] / n_draws * answer_entropy(fewer, n_draws - 1, alike)
    return np.asarray(n_draws * answer_entropy(counts, n_draws, similarity) - (n_draws - 1) * without)
