"""Definitions of labels from the task: of whole labels, and of weak subclasses. Rules do not write definitions.

The constants were examined with ``experiments/proposal_constants.py``: minilm on TREC, 500 train questions to propose
from and 500 val questions to score all edits of a kind at once (F1 / S; .518 / .122 without any). The standard error of
F1 is .02 there, so small differences mean nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.search_spaces import Edit, Provenance

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Task

# Of TREC's 50 subclasses 5 give .521 / .095, 10 .557 / .084, 20 .571 / .093, all that are ever wrong (35) .586 / .081:
# each helps a little, so the limit is for the prompt's length and the size of the search.
_MOST_SUBCLASSES = 10


def definitions_from_task(task: Task, predictions: Predictions) -> list[Edit]:
    """Offer the task's definition of each label that the model gets wrong on train."""
    edits = []
    for label, text in task.definitions.items():
        edits += _of_wrong(label, text, label, predictions.members(label), predictions)
    return edits


def definitions_from_subclasses(task: Task, predictions: Predictions) -> list[Edit]:
    """Offer to say that a label covers a subclass, for the subclasses that are most often wrong on train."""
    edits = []
    for label, subclasses in task.subclasses.items():
        for subclass, text in subclasses.items():
            is_of = [(sample.label, sample.subclass) == (label, subclass) for sample in predictions.samples]
            edits += _of_wrong(label, text, f"{label}: {subclass}", np.flatnonzero(is_of), predictions)
    return sorted(edits, key=lambda edit: -edit.gain)[:_MOST_SUBCLASSES]


def _of_wrong(label: str, text: str, topic: str, members: NDArray[np.int64], predictions: Predictions) -> list[Edit]:
    """One of the task's own definitions, if any of its samples is ever answered wrong."""
    wrong = predictions.share_wrong
    ids = tuple(predictions.samples[index].id for index in members if wrong[index] > 0)
    gain = float(wrong[members].sum() / len(wrong))
    return [Edit("definition", label, text, Provenance("task", "accuracy", topic, ids), gain)] if ids else []
