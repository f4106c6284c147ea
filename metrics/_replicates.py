"""F1, S and C_y of many reweighted copies of one data set at once: what intervals and tests are made of.

A replicate weighs every sample and every rephrasing. One matrix product gives the counts of all replicates, one
histogram their consistency (see `_differences`): no loop over samples or replicates, O(N C (Q + 1)) a replicate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._consistency import average_consistency
from ._differences import LARGEST_HISTOGRAM, lattice_distances, sorted_distances
from ._entropy import entropy

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ._answers import Answers

SCORES = ("f1", "sensitivity", "consistency")
CHUNK_ENTRIES = 200_000  # of a chunk's largest table; measured: 5 times more takes twice as long


def replicates_at_once(answers: Answers) -> int:
    """How many replicates to score together, so that their tables stay in the cache."""
    n_samples, n_rephrasings, n_classes = answers.shape
    widest = max(n_samples, answers.n_labels * (n_rephrasings + 1)) * n_classes
    return max(1, CHUNK_ENTRIES // widest)


def replicate_scores(
    answers: Answers, samples: NDArray[np.float64], rephrasings: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(F1, S, pooled C_y) of each replicate: (b, 3), from weights (b, N) and (b, Q).

    Every row of samples has one sum, and every row of rephrasings has one, the number of answers to a sample.
    """
    n_samples, _, n_classes = answers.shape
    n_answers = round(rephrasings[0].sum())
    total = samples[0].sum()
    f1 = ((samples @ answers.right) * rephrasings).sum(axis=1) / (total * n_answers)
    mass = answers.mass @ rephrasings.T.astype(answers.mass.dtype)
    table = mass.T.reshape(-1, n_samples, n_classes)
    if answers.hard:
        counts = table.astype(np.intp)
        nats = entropy(counts, n_answers)
        distances = _count_distances(answers, counts, n_answers, samples)
    else:
        table = table / n_answers
        nats = entropy(table, None)
        distances = _share_distances(answers, table, samples)
    sensitivity = np.minimum((nats * samples).sum(axis=1) / (total * np.log(n_classes)), 1.0)
    sizes = samples @ np.eye(answers.n_labels)[answers.classes]
    return np.stack([f1, sensitivity, average_consistency(distances, sizes, "pooled")], axis=1)


def _count_distances(
    answers: Answers, counts: NDArray[np.intp], n_answers: int, samples: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum of the distances over all pairs of each class: (b, N, C) -> (b, n_labels)."""
    n_classes, n_levels = counts.shape[2], n_answers + 1
    shape = (len(counts), answers.n_labels, n_classes, n_levels)
    if np.prod(shape[1:]) > LARGEST_HISTOGRAM:
        return _share_distances(answers, counts / n_answers, samples)
    first_cell = (np.arange(len(counts))[:, None] * answers.n_labels + answers.classes) * (n_classes * n_levels)
    cells = counts + np.arange(n_classes) * n_levels + first_cell[:, :, None]
    weights = np.broadcast_to(samples[:, :, None], cells.shape)
    histogram = np.bincount(cells.ravel(), weights.ravel(), minlength=int(np.prod(shape)))
    return lattice_distances(histogram.reshape(shape), n_answers)


def _share_distances(
    answers: Answers, shares: NDArray[np.float64], samples: NDArray[np.float64]
) -> NDArray[np.float64]:
    """As _count_distances, of probabilities: O(N C log N) a replicate."""
    members: list[Any] = [np.flatnonzero(answers.classes == label) for label in range(answers.n_labels)]
    return np.stack([sorted_distances(shares[:, of], samples[:, of]) for of in members], axis=1)
