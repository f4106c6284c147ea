"""Answers to one prompt, read: what intervals and tests are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._inputs import as_array, read_labels, read_n_classes, read_predictions, read_probabilities
from ._similarity import read_similarity

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SCORES = ("f1", "sensitivity", "consistency")
SHAPE = "(n_samples, n_rephrasings), or of probabilities (n_samples, n_rephrasings, n_classes)"


@dataclass(frozen=True)
class Answers:
    """Answers prepared for sums over wordings.

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
