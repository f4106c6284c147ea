"""F1, S and C_y of many reweighted copies of one data set at once: what intervals and tests are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._consistency import average_consistency
from ._differences import lattice_distances, sorted_distances
from ._entropy import entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCORES = ("f1", "sensitivity", "consistency")
CHUNK_ENTRIES = 1_000_000  # a replicate's tables together: 8 MB a temporary


@dataclass(frozen=True)
class Answers:
    """Answers prepared for reweighting.

    Attributes
    ----------
    one_hot : (N * C, Q) float32
        One where sample i got answer c from rephrasing q; of probabilities, p(c|x_i, rho_q).
    right : (N, Q) float64
        One where the answer is right.
    classes : (N,) int
        The true label's place among the labels that occur.
    hard : bool
        Whether one_hot holds only zeros and ones, so that its sums live on the lattice 0 .. Q.
    """

    one_hot: NDArray[Any]
    right: NDArray[np.float64]
    classes: NDArray[np.int64]
    hard: bool

    @property
    def shape(self) -> tuple[int, int, int]:
        """(N, Q, C)."""
        n_samples, n_rephrasings = self.right.shape
        return n_samples, n_rephrasings, len(self.one_hot) // n_samples

    def scores(self, samples: NDArray[np.float64], rephrasings: NDArray[np.float64]) -> NDArray[np.float64]:
        """(F1, S, C_y) of each replicate, (b, 3), from weights (b, N) and (b, Q)."""
        n_samples, n_rephrasings, n_classes = self.shape
        sums = (self.one_hot @ rephrasings.T.astype(self.one_hot.dtype)).T.reshape(-1, n_samples, n_classes)
        f1 = np.einsum("bn,nq,bq->b", samples, self.right, rephrasings, optimize=True) / self.right.size
        if self.hard:
            table, n_draws = sums.astype(np.intp), n_rephrasings
        else:
            table, n_draws = sums / n_rephrasings, None
        unsteady = (entropy(table, n_draws) * samples).sum(axis=1) / n_samples / np.log(n_classes)
        distances = self._on_lattice(table, samples) if self.hard else self._by_sorting(table, samples)
        steady = average_consistency(distances, self._class_sizes(samples), "pooled")
        return np.stack([f1, unsteady, steady], axis=-1)

    def _class_sizes(self, samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many samples of each class a replicate holds: (b, n_labels)."""
        n_labels = int(self.classes.max()) + 1
        return samples @ np.eye(n_labels)[self.classes]

    def _on_lattice(self, counts: NDArray[np.intp], samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distances by class from one histogram of all replicates."""
        (_, n_rephrasings, n_classes), n_labels = self.shape, int(self.classes.max()) + 1
        n_replicates, n_levels = len(counts), n_rephrasings + 1
        block = (np.arange(n_replicates)[:, None] * n_labels + self.classes) * (n_classes * n_levels)
        cells = counts + np.arange(n_classes) * n_levels + block[..., None]
        weights = np.broadcast_to(samples[..., None], cells.shape)
        shape = (n_replicates, n_labels, n_classes, n_levels)
        histogram = np.bincount(cells.ravel(), weights.ravel(), minlength=int(np.prod(shape)))
        return lattice_distances(histogram.reshape(shape), n_rephrasings)

    def _by_sorting(self, shares: NDArray[np.float64], samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distances by class, of probabilities."""
        members = [self.classes == label for label in range(int(self.classes.max()) + 1)]
        return np.stack([sorted_distances(shares[:, of], samples[:, of]) for of in members], axis=-1)


def hard_answers(predictions: NDArray[Any], y: NDArray[Any], n_classes: int) -> Answers:
    """Prepare predictions (N, Q) for reweighting."""
    one_hot = predictions[:, None, :] == np.arange(n_classes)[:, None]
    return Answers(
        one_hot.astype(np.float32).reshape(-1, predictions.shape[1]),
        (predictions == y[:, None]).astype(np.float64),
        np.unique(y, return_inverse=True)[1],
        hard=True,
    )
