"""What speaks for a slice: its share of the whole, the wordings that break it, its typical members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis._distinctive_words import distinctive_words

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.diagnosis._slices import FailureSlice
    from psopt.evaluation import Predictions

_MOST = 3  # of wordings and of members: a table cell holds no more


@dataclass(frozen=True, slots=True)
class Evidence:
    """Facts about a slice.

    Attributes
    ----------
    share : float
        Its samples' part of the sum of S over all samples, in [0, 1].
    words : tuple of str
        What sets its texts apart.
    worst_rephrasings : tuple of int
        Columns of the predictions, the one that breaks most of its samples first: by wrong answers, or without labels
        answers other than the sample's most frequent one.
    typical : tuple of str
        Ids of the members that show most of those words.
    """

    share: float
    words: tuple[str, ...]
    worst_rephrasings: tuple[int, ...]
    typical: tuple[str, ...]


def evidence(failing: FailureSlice, predictions: Predictions) -> Evidence:
    """Collect what speaks for a slice."""
    ids = set(failing.samples)
    members = np.array([index for index, sample in enumerate(predictions.samples) if sample.id in ids])
    unstable = predictions.sensitivities
    texts = predictions.texts
    words = distinctive_words(texts, members)
    broken = _broken(predictions)[members].sum(axis=0)
    worst = [int(column) for column in np.argsort(-broken, kind="stable")[:_MOST] if broken[column]]
    n_shown = [sum(word in texts[index].casefold() for word in words) for index in members]
    typical = members[np.argsort(-np.array(n_shown), kind="stable")[:_MOST]]
    total = float(unstable.sum())
    return Evidence(
        share=float(unstable[members].sum() / total) if total else 0.0,
        words=words,
        worst_rephrasings=tuple(worst),
        typical=tuple(predictions.samples[index].id for index in typical),
    )


def _broken(predictions: Predictions) -> NDArray[np.bool_]:
    """The answers that are wrong or, without labels, other than the usual one: (N, Q)."""
    if predictions.is_labelled:
        return predictions.wrong
    usual = predictions.counts.argmax(axis=1)
    return np.asarray(predictions.asked & (predictions.places != usual[:, None]))
