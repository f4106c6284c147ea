"""Grids of answers, as small as one can work them out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from psopt.evaluation import Predictions
from psopt.tasks import Sample


def grid(rows: Any, truth: Sequence[int] | None = None, labels: str = "ab", **more: Any) -> Predictions:
    """Answers to texts, a row each; every letter of `labels` is one, and without truth the texts have none."""
    array = np.array(rows)
    true = [None] * len(array) if truth is None else [labels[label] for label in truth]
    samples = tuple(Sample(str(place), f"text {place}", label) for place, label in enumerate(true))
    return Predictions(array, samples, tuple(labels), **more)
