"""S among readable answers: how much of what is unstable is what the model means, and not how its answers are read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.metrics import sensitivity
from psopt.models import NOT_ASKED

if TYPE_CHECKING:
    from psopt.evaluation._predictions import Predictions

_LEAST = 2  # readable answers of a sample: one alone can't differ from any


def readable_sensitivity(predictions: Predictions) -> float | None:
    """Return S over the answers that were read alone; None where all were, or too few for any sample.

    For each sample with at least two readable answers p_tau is taken over these, N/A out of it; its entropy is divided
    by ln C as in S, so that the two can be set side by side. S beside it counts N/A as a class, as E25 does.
    """
    if predictions.answers.open is not None:
        return _of_open(predictions)
    n_labels = len(predictions.labels)
    is_read = predictions.is_read
    n_read = is_read.sum(axis=1)
    kept = n_read >= _LEAST
    if is_read[predictions.asked].all() or not kept.any():
        return None
    if predictions.probabilities is None:
        mass = predictions.counts[kept].astype(np.float64)
    else:
        mass = np.where(is_read[kept][:, :, None], predictions.probabilities[kept], 0.0).sum(axis=1)
    mass[:, n_labels] = 0.0
    return sensitivity(mass / mass.sum(axis=1, keepdims=True), similarity=predictions.answers.similarity)


def _of_open(predictions: Predictions) -> float | None:
    is_read = predictions.is_read
    kept = np.flatnonzero(is_read.sum(axis=1) >= _LEAST)
    if is_read[predictions.asked].all() or not len(kept):
        return None
    same = None if predictions.same is None else np.where(is_read, predictions.same, NOT_ASKED)
    read = replace(predictions, array=np.where(is_read, predictions.array, NOT_ASKED), same=same).of_samples(kept)
    return sensitivity(read.p_tau, similarity=read.similarity)
