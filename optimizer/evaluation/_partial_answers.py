"""What is answered so far of a prompt's grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.models import NOT_ASKED

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PartialAnswers:
    """Answers to N samples under Q rephrasings, as far as there are any.

    Attributes
    ----------
    array : (N, Q) int
        As in `Predictions`; -1 where nothing is answered.
    probabilities : (N, Q, C) float or None
        As in `Predictions`; NaN where nothing is answered.
    """

    array: NDArray[np.int64]
    probabilities: NDArray[np.float64] | None = None

    @classmethod
    def empty(cls, n_samples: int, n_rephrasings: int, n_classes: int | None = None) -> PartialAnswers:
        """Return a grid without any answer; with room for probabilities, where it is said of how many classes."""
        array = np.full((n_samples, n_rephrasings), NOT_ASKED, dtype=np.int64)
        probabilities = None if n_classes is None else np.full((*array.shape, n_classes), np.nan)
        return cls(array, probabilities)

    @property
    def is_answered(self) -> NDArray[np.bool_]:
        """Which cells are answered: (N, Q)."""
        return np.asarray(self.array != NOT_ASKED)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to ask."""
        return bool(self.is_answered.all())

    def filled(self, other: PartialAnswers) -> PartialAnswers:
        """Return these answers, and the other's where there are none: an answer never changes.

        Raises ValueError if the other's are of another grid.
        """
        if other.array.shape != self.array.shape:
            raise ValueError(f"answers of {other.array.shape} cells are not of a grid of {self.array.shape}")
        is_answered = self.is_answered
        array = np.where(is_answered, self.array, other.array)
        if self.probabilities is None or other.probabilities is None:
            return PartialAnswers(array)
        return PartialAnswers(array, np.where(is_answered[:, :, None], self.probabilities, other.probabilities))
