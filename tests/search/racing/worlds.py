"""A world in which everything is known: samples of six classes, candidates, wordings that sway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_CLASSES = 7  # six labels and N/A


@dataclass(frozen=True)
class World:
    """Truth, and the whole grids of a baseline and of candidates as a sampler would meet them."""

    truth: NDArray[np.int64]
    baseline: NDArray[np.int64]
    candidates: list[NDArray[np.int64]]


def make_world(seed: int, n_samples: int = 300, n_wordings: int = 10, n_candidates: int = 40) -> World:
    """Draw a world; equal seeds, equal worlds."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, N_CLASSES - 1, n_samples)
    hardness = rng.beta(1.2, 0.8, n_samples)
    draws = rng.random((n_samples, n_wordings))
    shake = rng.random((n_samples, n_wordings))
    wrong = (truth[:, None] + rng.integers(1, N_CLASSES - 1, (n_samples, n_wordings))) % (N_CLASSES - 1)
    habit = (truth + rng.integers(1, N_CLASSES - 1, n_samples)) % (N_CLASSES - 1)

    def grid(skill: float, steadiness: float) -> NDArray[np.int64]:
        """What shakes is drawn for each wording, the rest once for a sample: common draws for all candidates."""
        own = np.clip(skill + 0.5 * (hardness - 0.5), 0.02, 0.98)
        steady = np.where(draws[:, :1] < own[:, None], truth[:, None], habit[:, None])
        swaying = np.where(draws < own[:, None], truth[:, None], wrong)
        return np.asarray(np.where(shake < steadiness, steady, swaying))

    quality = np.clip(np.linspace(0.45, 0.8, n_candidates) + rng.normal(0, 0.08, n_candidates), 0.2, 0.9)
    steadiness = rng.uniform(0.3, 0.9, n_candidates)
    return World(truth, grid(0.55, 0.5), [grid(*pair) for pair in zip(quality, steadiness, strict=True)])
