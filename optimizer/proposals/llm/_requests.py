"""What drafts are asked for: notes for slices, definitions of classes and of parts of them, notes in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.proposals.llm._messages import (
    ask_for_definition,
    ask_for_note,
    ask_for_open_note,
    ask_for_subclass,
    ask_to_merge,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.diagnosis import AnswerCluster, FailureSlice
    from psopt.evaluation import Predictions
    from psopt.search_spaces import Edit, EditKind, Messages, Prompt, View

N_WITHOUT_TOPIC = 2
"""How many notes on open answers are asked for whatever their topic: of the most severe samples by each view."""
_MOST_FAILING = 24  # samples that a note is drawn from; half of them are shown. Chosen, not measured


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """One edit that drafts are asked for.

    Attributes
    ----------
    kind, label, gain
        See `Edit`.
    topic, view, samples
        See `Provenance`.
    messages : Messages
    """

    kind: EditKind
    label: str
    topic: str
    view: str
    samples: tuple[str, ...]
    gain: float
    messages: Messages


def note_request(
    prompt: Prompt, failing: FailureSlice, predictions: Predictions, rephrasings: Sequence[str]
) -> DraftRequest:
    """Ask for a note on a slice of failing samples; what is to gain is their share of wrong answers."""
    members = set(failing.samples)
    wrong = predictions.share_wrong
    at_stake = [wrong[index] for index, sample in enumerate(predictions.samples) if sample.id in members]
    gain = float(np.sum(at_stake) / len(wrong))
    messages = ask_for_note(prompt, failing, predictions, rephrasings)
    return DraftRequest("note", str(failing.label), failing.topic, failing.view, failing.samples, gain, messages)


def open_note_requests(
    prompt: Prompt, predictions: Predictions, rephrasings: Sequence[str], topics: Sequence[FailureSlice] = ()
) -> list[DraftRequest]:
    """Ask for notes on answers that are no single labels.

    One on each topic of weak samples, one on the samples most often wrong, and one on those that shake most.
    """
    place = {sample.id: index for index, sample in enumerate(predictions.samples)}
    requests = [
        _open_note_request(
            prompt, predictions, rephrasings, [place[sample] for sample in failing.samples], failing.view, failing.topic
        )
        for failing in topics
    ]
    views: dict[View, NDArray[np.float64]] = {
        "accuracy": predictions.share_wrong,
        "sensitivity": predictions.sensitivities,
    }
    for view, severity in views.items():
        members = [int(index) for index in np.argsort(-severity, kind="stable")[:_MOST_FAILING] if severity[index] > 0]
        if members:
            requests.append(_open_note_request(prompt, predictions, rephrasings, members, view))
    return requests


def _open_note_request(
    prompt: Prompt,
    predictions: Predictions,
    rephrasings: Sequence[str],
    members: Sequence[int],
    view: View,
    topic: str = "",
) -> DraftRequest:
    wrong = predictions.share_wrong
    gain = float(wrong[members].sum() / len(wrong))
    ids = tuple(predictions.samples[index].id for index in members)
    messages = ask_for_open_note(prompt, members, predictions, rephrasings, topic)
    return DraftRequest("note", "", topic or f"most severe by {view}", view, ids, gain, messages)


def definition_request(prompt: Prompt, label: str, predictions: Predictions) -> DraftRequest:
    """Ask for a definition of a label."""
    wrong = predictions.share_wrong
    members = [index for index, sample in enumerate(predictions.samples) if sample.label == label and wrong[index] > 0]
    ids = tuple(predictions.samples[index].id for index in members)
    gain = float(wrong[members].sum() / len(wrong))
    return DraftRequest(
        "definition", label, label, "accuracy", ids, gain, ask_for_definition(prompt, label, predictions)
    )


def subclass_request(prompt: Prompt, cluster: AnswerCluster, predictions: Predictions) -> DraftRequest:
    """Ask for what a cluster has in common, to be added to its label's definition."""
    gain = cluster.wrong * len(cluster.samples) / len(predictions.samples)
    messages = ask_for_subclass(prompt, cluster, predictions)
    topic = f"{cluster.label}: answered {cluster.answered}"
    return DraftRequest("definition", cluster.label, topic, "consistency", cluster.samples, gain, messages)


def merge_request(notes: Sequence[Edit]) -> DraftRequest:
    """Ask for one note in place of several of a label."""
    messages = ask_to_merge(notes[0].label, [note.text for note in notes])
    return DraftRequest(
        "note", notes[0].label, f"{len(notes)} notes in one", notes[0].provenance.view, (), 0.0, messages
    )
