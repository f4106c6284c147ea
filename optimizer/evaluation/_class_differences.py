"""Class by class: what each answer counts for its F1, and in which classes a prompt is worse than another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation._label_rows import given_labels, true_labels
from psopt.metrics import mean_difference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from psopt.evaluation._predictions import Predictions
    from psopt.metrics import PairedDifference


@dataclass(frozen=True, slots=True)
class ClassDifference:
    """One class under two prompts.

    Attributes
    ----------
    label : str
    n : int
        Its samples.
    before, after : float
        Its F1; of answers that are scored the mean score of its samples.
    paired : PairedDifference
        After minus before.
    """

    label: str
    n: int
    before: float
    after: float
    paired: PairedDifference


def compare_classes(first: Predictions, second: Predictions) -> list[ClassDifference]:
    """Compare two prompts class by class, on the same samples and rephrasings; no classes, none."""
    sides = [list(class_answers(side)) for side in (first, second)]
    found = []
    for (label, right, weights), (_, second_right, second_weights) in zip(*sides, strict=True):
        # a sample that neither has nor is given the label tells nothing of its F1
        concerned = weights.any(axis=1) | second_weights.any(axis=1)
        n = len(first.members(label))
        if n and concerned.any():
            before, after = (_mean(*pair) for pair in ((right, weights), (second_right, second_weights)))
            paired = mean_difference(
                right[concerned],
                second_right[concerned],
                first_weights=weights[concerned],
                second_weights=second_weights[concerned],
            )
            found.append(ClassDifference(label, n, before, after, paired))
    return found


def class_answers(predictions: Predictions) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Each label with what every answer is worth to it, and how much that counts, (N, Q) each.

    F1 is a ratio of sums: an answer that is right weighs two, one that misses or adds the label one. Where a metric or
    closeness scores the answers, it is the mean over the samples of the class. Of texts without classes there is none.
    """
    if predictions.label_rows is not None:
        given = given_labels(predictions.array, predictions.labels)
        true = true_labels([str(sample.label) for sample in predictions.samples], predictions.labels)
    elif predictions.answers.open is None:
        numbers = np.arange(len(predictions.labels))
        given = predictions.array[:, :, None] == numbers
        true = predictions.truth[:, None] == numbers
    else:
        return
    is_scored = predictions.quality is not None and predictions.label_rows is None
    for number, label in enumerate(predictions.labels):
        is_given, is_true = given[:, :, number], true[:, None, number]
        if is_scored:
            yield label, np.asarray(predictions.quality), np.broadcast_to(is_true, is_given.shape).astype(np.float64)
        else:
            weights = (is_given.astype(np.float64) + is_true) * predictions.asked
            yield label, (is_given & is_true).astype(np.float64), weights


def _mean(scores: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    total = weights.sum()
    return float((scores * weights).sum() / total) if total else 0.0
