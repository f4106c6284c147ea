"""Definitions of labels: the task's own, those of weak subclasses, of weak clusters, and the wordings of train."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis import PhraseIndex
from psopt.search_spaces import Edit, Provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.diagnosis import AnswerCluster
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample, Task

_MOST_SUBCLASSES = 10
_MOST_CLUSTERS = 8
_WORDINGS = 6
_TRAIN_FOR_WORDINGS = 5000


def definitions_from_task(task: Task, predictions: Predictions) -> list[Edit]:
    """Offer the task's definition of each label that the model gets wrong on train."""
    wrong = predictions.share_wrong
    edits = []
    for label, text in task.definitions.items():
        members = [index for index, sample in enumerate(predictions.samples) if sample.label == label]
        ids = tuple(predictions.samples[index].id for index in members if wrong[index] > 0)
        gain = float(wrong[members].sum() / len(wrong))
        if ids:
            edits.append(Edit("definition", label, text, Provenance("task", "accuracy", label, ids), gain))
    return edits


def definitions_from_subclasses(task: Task, predictions: Predictions) -> list[Edit]:
    """Offer to say that a label covers a subclass, for the subclasses that are most often wrong on train."""
    wrong = predictions.share_wrong
    edits = []
    for label, subclasses in task.subclasses.items():
        for subclass, text in subclasses.items():
            members = [
                index
                for index, sample in enumerate(predictions.samples)
                if sample.label == label and sample.subclass == subclass
            ]
            ids = tuple(predictions.samples[index].id for index in members if wrong[index] > 0)
            gain = float(wrong[members].sum() / len(wrong))
            if ids:
                origin = Provenance("task", "accuracy", f"{label}: {subclass}", ids)
                edits.append(Edit("definition", label, text, origin, gain))
    return sorted(edits, key=lambda edit: -edit.gain)[:_MOST_SUBCLASSES]


def definitions_from_clusters(predictions: Predictions, clusters: Sequence[AnswerCluster]) -> list[Edit]:
    """Offer to say that a label covers what its wrongly answered clusters share, where a phrase names that."""
    wrong = dict(zip((sample.id for sample in predictions.samples), predictions.share_wrong, strict=True))
    edits = []
    for cluster in clusters:
        if cluster.phrases and cluster.answered != cluster.label:
            named = cluster.samples[: cluster.n_named]
            gain = float(sum(wrong[sample] for sample in named) / len(wrong))
            origin = Provenance("rules", "consistency", f"{cluster.label}: answered {cluster.answered}", named)
            edits.append(Edit("definition", cluster.label, f"also {', '.join(cluster.phrases)}", origin, gain))
    return sorted(edits, key=lambda edit: -edit.gain)[:_MOST_CLUSTERS]


def definitions_from_wordings(task: Task, predictions: Predictions) -> list[Edit]:
    """Define each label by the wordings that, in train, mean that label and little else."""
    train = [sample for sample in task.train if sample.label is not None][:_TRAIN_FOR_WORDINGS]
    wrong = predictions.share_wrong
    truth = predictions.truth
    edits = []
    for index, label in enumerate(task.labels):
        wordings, ids = _typical_wordings(train, label)
        if wordings:
            gain = float(wrong[truth == index].sum() / len(wrong))
            text = f"typical wordings: {', '.join(wordings)}"
            edits.append(
                Edit(
                    "definition",
                    label,
                    text,
                    Provenance("rules", "accuracy", f"{label}: wordings", ids),
                    gain,
                )
            )
    return edits


def _typical_wordings(train: list[Sample], label: str) -> tuple[list[str], tuple[str, ...]]:
    """Cover the label's train texts greedily by pure phrases; return these and a few texts that show them."""
    index = PhraseIndex.of([sample.text for sample in train], min_texts=max(3, len(train) // 400))
    if not index.phrases:
        return [], ()
    own = np.array([sample.label == label for sample in train], dtype=float)
    shown = index.shown
    total = np.asarray(shown.sum(axis=0)).ravel()
    pure = np.asarray(shown.T @ own) / (total + 2) >= 0.8
    left, wordings, ids = own.copy(), [], []
    for _ in range(_WORDINGS):
        covered = np.where(pure, np.asarray(shown.T @ left), 0)
        best = int(covered.argmax())
        if covered[best] < 2:
            break
        wordings.append(index.phrases[best].removeprefix("^"))
        members = (shown[:, [best]].toarray().ravel() > 0) & (left > 0)
        ids += [train[member].id for member in np.flatnonzero(members)[:3]]
        left[members] = 0
    return wordings, tuple(ids)
