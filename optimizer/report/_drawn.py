"""Figures that show every sample show some of them where there are very many: a page has to open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.evaluation import Predictions

# Points of 50,000 samples make a page of 22 MB that takes a minute to write and browsers seconds to draw.
MOST = 2000
_SEED = 42


def drawn(prompts: Mapping[str, Predictions]) -> tuple[Mapping[str, Predictions], str]:
    """At most 2,000 samples, the same under every prompt, drawn at random, and what a caption says of that.

    Where there are no more, all of them, and nothing.
    """
    n_samples = len(next(iter(prompts.values())).samples)
    if n_samples <= MOST:
        return prompts, ""
    rows = np.sort(np.random.default_rng(_SEED).choice(n_samples, MOST, replace=False))
    note = f" Shown are {MOST:,} of {n_samples:,} samples, drawn at random."
    return {name: predictions.of_samples(rows) for name, predictions in prompts.items()}, note
