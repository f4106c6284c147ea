"""What each sample contributes to the objectives where answers are open: quality, and how little they disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import LabelSets, places_of, similarities_of, text_of, worths_of
from psopt.evaluation import LabelRows, mean_influences
from psopt.tasks import set_written

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.answers import OpenAnswers


def open_gains(answers: NDArray[np.int64], truth: NDArray[np.int64], rule: OpenAnswers) -> NDArray[np.float64]:
    """Return gains as `sample_gains` does, of answers (n, m) and the numbers of what is right, (n,)."""
    m = answers.shape[1]
    places = places_of(answers, rule)
    shares = (places[:, :, None] == np.arange(m)).mean(axis=1)
    similarity = similarities_of(answers, places, rule, m)
    alike = shares if similarity is None else np.einsum("nab,nb->na", similarity, shares)
    disagreement = m / (m - 1) * (1 - (shares * alike).sum(axis=1))
    worths, weights = worths_of(answers, truth, rule)
    mean, parts = mean_influences(worths, weights)
    quality = mean + len(parts) * parts
    if not isinstance(rule, LabelSets):
        return np.column_stack([quality, -disagreement])
    right = [text_of(code) for code in truth.tolist()]
    labels = sorted({label for written in right for label in set_written(written)})
    return np.column_stack([quality, -disagreement, LabelRows.of(answers, right, labels).contributions])
