"""How much the likelihood of the labels changes between wordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.metrics import posix

if TYPE_CHECKING:
    from psopt.evaluation._predictions import Predictions

LEAST_PROBABILITY = 1e-9
"""What a class has at least: one that a server does not list among its likeliest has 0, whose logarithm is no number.

Set by hand; no change of an answer's likelihood is then above 20.7 nats."""
_FEWEST_WORDINGS = 2


def posix_of(predictions: Predictions) -> float | None:
    """Return POSIX of single labels, in nats a label, 0 or more; None without probabilities or under one wording.

    What wording j answers is its most probable class, N/A among them; a label is a unit, of length 1.
    """
    probabilities = predictions.probabilities
    if probabilities is None or predictions.answers.open is not None or not predictions.is_whole:
        return None
    if predictions.n_rephrasings < _FEWEST_WORDINGS:
        return None
    # sums of rounded probabilities may pass 1
    logarithms = np.log(np.clip(probabilities, LEAST_PROBABILITY, 1.0))
    answers = predictions.array
    return posix(np.take_along_axis(logarithms, answers[:, None, :], axis=2), np.ones_like(answers))
