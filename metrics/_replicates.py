"""F1, S and C_y of many reweighted copies of one data set at once: what intervals and tests are made of.

A replicate weighs every sample and every rephrasing. One matrix product gives the counts of all replicates, one
histogram their consistency (see `_numerics`): no loop over samples or replicates, O(N C (Q + 1)) a replicate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._consistency import average_consistency
from ._inputs import as_array, read_labels, read_n_classes, read_predictions, read_probabilities
from ._numerics import LARGEST_HISTOGRAM, lattice_distances, sorted_distances
from ._similarity import answer_entropy, read_similarity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

SHAPE = "(n_samples, n_rephrasings), or of probabilities (n_samples, n_rephrasings, n_classes)"


@dataclass(frozen=True)
class Answers:
    """Answers prepared for matrix products.

    Attributes
    ----------
    mass : (N * C, Q) float
        What answer (i, q) gives to class c: one or zero, or the probability p(c|x_i, rho_q).
    right : (N, Q) float64
        One where the (most probable) answer is right.
    classes : (N,) int
        The true label's place among the labels that occur.
    hard : bool
        Whether mass holds only zeros and ones, so that its sums over rephrasings are counts.
    similarity : (C, C) or (N, C, C) float or None
        How alike two answers are.
    """

    mass: NDArray[Any]
    right: NDArray[np.float64]
    classes: NDArray[np.int64]
    hard: bool
    similarity: NDArray[np.float64] | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """(N, Q, C)."""
        n_samples, n_rephrasings = self.right.shape
        return n_samples, n_rephrasings, len(self.mass) // n_samples

    @property
    def n_labels(self) -> int:
        """How many true labels occur."""
        return int(self.classes.max()) + 1


def read_answers(
    predictions: ArrayLike,
    y: ArrayLike,
    n_classes: int,
    name: str = "predictions",
    *,
    similarity: ArrayLike | None = None,
) -> Answers:
    """Hard predictions (N, Q) of integers, or probabilities (N, Q, C), with their labels (N,)."""
    chosen, probabilities = read_either(predictions, n_classes, name)
    y = read_labels(y, len(chosen), n_classes)
    if probabilities is None:
        # float32 holds counts exactly up to 16 million rephrasings
        mass = (chosen[:, None, :] == np.arange(n_classes)[:, None]).astype(np.float32)
    else:
        mass = probabilities.transpose(0, 2, 1)
    return Answers(
        mass=mass.reshape(-1, chosen.shape[1]),
        right=(chosen == y[:, None]).astype(np.float64),
        classes=np.unique(y, return_inverse=True)[1],
        hard=probabilities is None,
        similarity=read_similarity(similarity, len(chosen), n_classes),
    )


def read_either(
    predictions: ArrayLike, n_classes: int, name: str = "predictions"
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Hard predictions (N, Q), and the probabilities (N, Q, C) they come from, if these were given."""
    n_classes = read_n_classes(n_classes)
    array = as_array(predictions, name, (2, 3), SHAPE)
    if array.ndim == 2:
        return read_predictions(array, n_classes, name=name), None
    probabilities = read_probabilities(array, name=name)
    if probabilities.shape[2] != n_classes:
        raise ValueError(f"{name} has {probabilities.shape[2]} classes on its last axis, not {n_classes}")
    return probabilities.argmax(axis=2), probabilities


RESAMPLED = ("both", "samples", "rephrasings")


def bootstrap_weights(
    n_samples: int, n_rephrasings: int, resample: str, n_replicates: int, seed: int, chunk: int
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Weights of samples (b, N) and of rephrasings (b, Q), chunk replicates at a time.

    A row sums to N, or to Q; a side that is not resampled has weight one everywhere. Samples and rephrasings
    have a random stream each, so that a seed gives the same replicates however they are cut into chunks.
    """
    sample_stream, rephrasing_stream = np.random.default_rng(seed).spawn(2)
    for start in range(0, n_replicates, chunk):
        size = min(chunk, n_replicates - start)
        samples = np.ones((size, n_samples))
        rephrasings = np.ones((size, n_rephrasings))
        if resample != "rephrasings":
            samples = _draw(sample_stream, n_samples, size)
        if resample != "samples":
            rephrasings = _draw(rephrasing_stream, n_rephrasings, size)
        yield samples, rephrasings


def subset_weights(
    n_rephrasings: int, size: int, n_replicates: int, stream: np.random.Generator
) -> NDArray[np.float64]:
    """Weights (b, Q) of random subsets: size ones in every row, drawn without replacement."""
    ranks = stream.random((n_replicates, n_rephrasings)).argsort(axis=1).argsort(axis=1)
    return (ranks < size).astype(np.float64)


def _draw(stream: np.random.Generator, n: int, size: int) -> NDArray[np.float64]:
    cells = stream.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
    return np.bincount(cells.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


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
        nats = answer_entropy(counts, n_answers, answers.similarity)
        distances = _count_distances(answers, counts, n_answers, samples)
    else:
        table = table / n_answers
        nats = answer_entropy(table, None, answers.similarity)
        distances = _share_distances(answers, table, samples)
    sensitivity = np.minimum((nats * samples).sum(axis=1) / (total * np.log(n_classes)), 1.0)
    sizes = samples @ np.eye(answers.n_labels)[answers.classes]
    return np.stack([f1, sensitivity, average_consistency(distances, sizes, "pooled")], axis=1)


def _count_distances(
    answers: Answers, counts: NDArray[np.intp], n_answers: int, samples: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum of the distances over all pairs of each class: (b, N, C) -> (b, n_labels)."""
    n_classes = counts.shape[2]
    n_levels = n_answers + 1
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
