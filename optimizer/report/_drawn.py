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


def drawn(prompts: Mapping[str, Predictions]) -> dict[str, Predictions]:
    """At most 2,000 samples, the same under every prompt, drawn at random; all of them where there are no more."""
    n_samples = len(next(iter(prompts.values())).samples)
    if n_samples <= MOST:
        return dict(prompts)
    rows = np.sort(np.random.default_rng(_SEED).choice(n_samples, MOST, replace=False))
    return {name: predictions.of_samples(rows) for name, predictions in prompts.items()}


def drawn_note(prompts: Mapping[str, Predictions]) -> str:
    """What a caption ends with where `drawn` leaves samples out."""
    n_samples = len(next(iter(prompts.values())).samples)
    return f" Shown are {MOST:,} of {n_samples:,} samples, drawn at random." if n_samples > MOST else ""
