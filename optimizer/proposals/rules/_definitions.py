"""Definitions of labels: the task's own, those of weak subclasses, of weak clusters, and the phrases typical of train.

How the constants were looked at: ``experiments/proposal_constants.py`` with minilm on TREC, 500 questions of train to
propose from and 500 of val to score all edits of a kind at once (F1 / S; .518 / .122 without any). The standard error
of F1 is .02 there, so that small differences tell nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.proposals.rules._merging_definitions import ALSO, TYPICAL, listed
from psopt.search_spaces import Edit, Provenance
from psopt.text import field_and_phrase, phrase_of_field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.diagnosis import AnswerCluster
    from psopt.evaluation import Predictions
    from psopt.proposals._phrase_evidence import PhraseEvidence
    from psopt.tasks import Task

# Of TREC's 50 subclasses 5 give .521 / .095, 10 .557 / .084, 20 .571 / .093, all that are ever wrong (35) .586 / .081:
# each helps a little, so the number is for the prompt's length and the size of the search.
_MOST_SUBCLASSES = 10
# 1 gives .507, 2 .529, 4 .518, 8 .515, 12 .560: no trend that would choose one; for the size of the search.
_MOST_CLUSTERS = 8
# 2 give .588 / .087, 4 .578 / .081, 6 .582 / .074, 8 .596 / .075, 12 .603 / .076: S stops falling at six.
_MOST_PHRASES = 6
_LEAST_PURITY = 0.7  # at least, by its interval; chosen by judgement, not measured
_N_CITED = 3  # texts named as the source of a phrase


def definitions_from_task(task: Task, predictions: Predictions) -> list[Edit]:
    """Offer the task's definition of each label that the model gets wrong on train."""
    edits = []
    for label, text in task.definitions.items():
        members = np.zeros(len(predictions.samples), dtype=np.bool_)
        members[predictions.members(label)] = True
        edits += _of_wrong(label, text, label, members, predictions)
    return edits


def definitions_from_subclasses(task: Task, predictions: Predictions) -> list[Edit]:
    """Offer to say that a label covers a subclass, for the subclasses that are most often wrong on train."""
    edits = []
    for label, subclasses in task.subclasses.items():
        for subclass, text in subclasses.items():
            members = np.array([(sample.label, sample.subclass) == (label, subclass) for sample in predictions.samples])
            edits += _of_wrong(label, text, f"{label}: {subclass}", members, predictions)
    return sorted(edits, key=lambda edit: -edit.gain)[:_MOST_SUBCLASSES]


def _of_wrong(label: str, text: str, topic: str, members: NDArray[np.bool_], predictions: Predictions) -> list[Edit]:
    """A definition of the task's own, if any of the samples that it is about is ever answered wrong."""
    wrong = predictions.share_wrong
    ids = tuple(predictions.samples[index].id for index in np.flatnonzero(members & (wrong > 0)))
    gain = float(wrong[members].sum() / len(wrong))
    return [Edit("definition", label, text, Provenance("task", "accuracy", topic, ids), gain)] if ids else []


def definitions_from_clusters(
    predictions: Predictions, clusters: Sequence[AnswerCluster], evidence: PhraseEvidence | None = None
) -> list[Edit]:
    """Offer to say that a label covers what its wrongly answered clusters share, where a phrase names that.

    With `evidence`, by phrases alone that it takes for signs of the label. What one cluster's definition says of a
    label, a smaller cluster's does not say again.
    """
    wrong = dict(zip((sample.id for sample in predictions.samples), predictions.share_wrong, strict=True))

    def gain(cluster: AnswerCluster) -> float:
        return float(sum(wrong[sample] for sample in cluster.samples[: cluster.n_named]) / len(wrong))

    said: dict[str, list[str]] = {label: [] for label in predictions.labels}
    edits = []
    for cluster in sorted(clusters, key=gain, reverse=True):
        if cluster.answered == cluster.label:
            continue
        phrases = [
            phrase
            for phrase in cluster.phrases
            if (evidence is None or _is_sign(phrase, cluster.label, evidence))
            and not _is_said(phrase, said[cluster.label])
        ]
        if phrases:
            said[cluster.label] += phrases
            named = cluster.samples[: cluster.n_named]
            origin = Provenance("rules", "consistency", f"{cluster.label}: answered {cluster.answered}", named)
            edits.append(Edit("definition", cluster.label, f"{ALSO}{listed(phrases)}", origin, gain(cluster)))
    return edits[:_MOST_CLUSTERS]


def _is_said(phrase: str, said: Sequence[str]) -> bool:
    """Whether a phrase, or a part of it that stands for more texts, is among those that were said.

    >>> _is_said("how can i", ["how can"]), _is_said("how can", ["how can i"]), _is_said("body: fee", ["subject: fee"])
    (True, False, False)
    """
    field, alone = field_and_phrase(phrase)
    fields = [field_and_phrase(other) for other in said]
    return any(other_field == field and f" {other} " in f" {alone} " for other_field, other in fields)


def definitions_from_phrases(task: Task, predictions: Predictions, evidence: PhraseEvidence) -> list[Edit]:
    """Define each label by the phrases that, in train, mean that label and little else."""
    edits = []
    for number, label in enumerate(task.labels):
        phrases, ids = _typical_phrases(evidence, number)
        if phrases:
            origin = Provenance("rules", "accuracy", f"{label}: wordings", ids)
            gain = float(predictions.share_wrong[predictions.truth == number].sum() / len(predictions.samples))
            edits.append(Edit("definition", label, f"{TYPICAL}{listed(phrases)}", origin, gain))
    return edits


def _typical_phrases(evidence: PhraseEvidence, label: int) -> tuple[list[str], tuple[str, ...]]:
    """Cover the label's texts greedily by pure phrases; return these and a few texts that show them."""
    own = np.array([sample.label == evidence.labels[label] for sample in evidence.samples], dtype=bool)
    pure = [
        phrase
        for phrase, labels in evidence.signs.items()
        if phrase in evidence.plainest and label in labels and evidence.lower[phrase][label] >= _LEAST_PURITY
    ]
    # Of phrases that the same texts show, the one of fewest words says it.
    pure.sort(key=lambda phrase: (len(field_and_phrase(phrase)[1].split()), phrase))
    uncovered = own.copy()
    phrases: list[str] = []
    ids: list[str] = []
    while pure and len(phrases) < _MOST_PHRASES:
        members = [evidence.holders[phrase][uncovered[evidence.holders[phrase]]] for phrase in pure]
        best = max(range(len(pure)), key=lambda index: len(members[index]))
        if len(members[best]) < 2:
            break
        field, alone = field_and_phrase(pure[best])
        phrases.append(phrase_of_field(field, alone.removeprefix("^")))
        ids += [evidence.samples[member].id for member in members[best][:_N_CITED]]
        uncovered[members[best]] = False
    return phrases, tuple(ids)


def _is_sign(phrase: str, label: str, evidence: PhraseEvidence) -> bool:
    """Whether a phrase, wherever it stands or at the beginning, is a sign of a label."""
    field, alone = field_and_phrase(phrase)
    place = evidence.labels.index(label)
    return any(place in evidence.signs.get(name, ()) for name in (phrase, phrase_of_field(field, f"^{alone}")))
