"""Which samples to label first: those whose answers differ most. No labels are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation import votes
from psopt.text import words_of

if TYPE_CHECKING:
    from psopt.evaluation import Predictions

_NEAR_COPY = 0.8  # of two texts' distinct words: the same threshold as for examples (`psopt.proposals`)


@dataclass(frozen=True, slots=True)
class ToLabel:
    """A sample that is worth a label."""

    id: str
    text: str
    sensitivity: float  # S of its answers, in [0, 1]
    answer: str  # the majority answer over the wordings
    agreement: float  # the share of wordings that gave it, in (0, 1]


def samples_to_label(predictions: Predictions, n: int) -> list[ToLabel]:
    """Return at most n samples, highest S first; on a tie, those with the smaller share of the vote.

    A sample that shares four fifths of its words with an earlier one is left out: it would add nothing.
    """
    answers, shares, spreads, _ = votes(predictions)
    first: list[ToLabel] = []
    taken: list[set[str]] = []
    for row in np.lexsort((shares, -spreads.round(9))).tolist():
        if len(first) == n:
            break
        sample = predictions.samples[row]
        words = set(words_of(sample.text))
        if not any(len(words & earlier) >= _NEAR_COPY * len(words | earlier) for earlier in taken):
            first.append(ToLabel(sample.id, str(sample.text), float(spreads[row]), answers[row], float(shares[row])))
            taken.append(words)
    return first
