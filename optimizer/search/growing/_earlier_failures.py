"""What the diagnoses of earlier prompts have seen of each sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class EarlierFailures:
    """What each sample was in the latest diagnosis that asked about it.

    Attributes
    ----------
    failed : (N,) bool
        It was wrong or unsteady.
    sound : (N,) bool
        It was right and steady, as far as it was asked about. Neither of the two: nobody has asked.
    """

    failed: NDArray[np.bool_]
    sound: NDArray[np.bool_]

    @classmethod
    def none(cls, n_samples: int) -> Self:
        """Return what is known before the first diagnosis."""
        nobody = np.zeros(n_samples, dtype=np.bool_)
        return cls(nobody, nobody.copy())

    @property
    def are_there(self) -> bool:
        """Whether there was a diagnosis."""
        return bool((self.failed | self.sound).any())

    @property
    def kinds(self) -> NDArray[np.int64]:
        """0 where nobody has asked, 1 where it failed, 2 where it was sound: (N,)."""
        return self.failed + 2 * self.sound

    def after(self, failed: NDArray[np.bool_], asked: NDArray[np.bool_]) -> EarlierFailures:
        """Return what is known after a further diagnosis: (N,) who failed in it, and who was asked about."""
        return EarlierFailures(np.where(asked, failed, self.failed), np.where(asked, asked & ~failed, self.sound))
