"""What drafts are asked for: notes on groups, definitions of a label and of all labels, several notes in one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.proposals.llm._messages import (
    ask_for_all_definitions,
    ask_for_definition,
    ask_for_note,
    ask_for_open_note,
    ask_to_merge,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.diagnosis import FailureSlice
    from psopt.evaluation import Predictions
    from psopt.search_spaces import Edit, EditKind, Messages, Prompt, View

N_WITHOUT_TOPIC = 2
"""How many notes on open answers are asked for whatever their topic: of the most severe samples by each view."""
_MOST_CHARACTERS = 320  # of a draft that a grammar holds: more than its checks let pass, and no endless text
_MOST_FAILING = 24  # samples that a note is drawn from; the first of them are shown. Chosen, not measured


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """One edit that a draft is asked for, or one of each label.

    Attributes
    ----------
    kind, label, gain
        See `Edit`. Where answers are no single labels, the label is empty.
    topic, view, samples
        See `Provenance`.
    other : str
        The label to which a definition is to say the boundary; empty where there is none.
    labels : tuple of str
        Where all labels are to be defined at once: these; else empty.
    """

    kind: EditKind
    label: str
    topic: str
    view: str
    samples: tuple[str, ...]
    gain: float
    messages: Messages
    other: str = ""
    labels: tuple[str, ...] = ()

    @property
    def schema(self) -> str:
        """The form of the answer as a JSON schema, for models that can be held to one."""
        text: dict[str, object] = {"type": "string", "maxLength": _MOST_CHARACTERS}
        if self.labels:
            fields = {"definitions": _object(dict.fromkeys(self.labels, text))}
        else:
            fields = {**({"label": {"const": self.label}} if self.label else {}), str(self.kind): text}
            fields |= {"boundary": text} if self.other else {}
        return json.dumps(_object(fields))


def _object(fields: dict[str, dict[str, object]]) -> dict[str, object]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def note_request(prompt: Prompt, failing: FailureSlice, predictions: Predictions) -> DraftRequest:
    """Ask for a note on a group of weak samples; what is to gain is their share of wrong answers."""
    members = set(failing.samples)
    wrong = predictions.share_wrong
    at_stake = [wrong[index] for index, sample in enumerate(predictions.samples) if sample.id in members]
    gain = float(np.sum(at_stake) / len(wrong))
    messages = ask_for_note(prompt, failing, predictions)
    return DraftRequest("note", str(failing.label), failing.topic, failing.view, failing.samples, gain, messages)


def open_note_requests(
    prompt: Prompt, predictions: Predictions, rephrasings: Sequence[str], topics: Sequence[FailureSlice] = ()
) -> list[DraftRequest]:
    """Ask for notes on answers that are no single labels.

    One on each topic of weak samples, one on the samples most often wrong, and one on the most unstable ones.
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
    gain = float(predictions.share_wrong[members].sum() / len(predictions.samples))
    ids = tuple(predictions.samples[index].id for index in members)
    messages = ask_for_open_note(prompt, members, predictions, rephrasings, topic)
    return DraftRequest("note", "", topic or f"most severe by {view}", view, ids, gain, messages)


def definition_requests(prompt: Prompt, predictions: Predictions, most: int, most_labels: int) -> list[DraftRequest]:
    """Ask for all labels' definitions in one style, where these are not too many, and for one of each weak label.

    The boundary is that to the label for which most of a label's samples are taken.
    """
    wrong = predictions.share_wrong
    by_label = {label: predictions.members(label) for label in predictions.labels}
    weakest = sorted(by_label, key=lambda label: -float(wrong[by_label[label]].sum()))
    weak = [label for label in weakest if wrong[by_label[label]].any()][:most]
    taken_for = {label: _taken_for(label, predictions) for label in weak}
    requests = []
    if weak and 1 < len(prompt.labels) <= most_labels:
        confusions = [(label, other) for label, other in taken_for.items() if other]
        messages = ask_for_all_definitions(prompt, confusions, predictions)
        ids = _wrong_ids(np.arange(len(wrong)), predictions)
        gain = float(wrong.mean())
        topic = "all labels"
        requests.append(
            DraftRequest("definition", "", topic, "accuracy", ids, gain, messages, labels=tuple(prompt.labels))
        )
    for label in weak:
        messages = ask_for_definition(prompt, label, taken_for[label], predictions)
        ids = _wrong_ids(by_label[label], predictions)
        gain = float(wrong[by_label[label]].sum() / len(wrong))
        other = taken_for[label] or ""
        requests.append(DraftRequest("definition", label, label, "accuracy", ids, gain, messages, other))
    return requests


def _taken_for(label: str, predictions: Predictions) -> str | None:
    """The other label that is answered most often to a label's samples; None where they are given no other."""
    given = predictions.counts[predictions.members(label)].sum(axis=0)[: len(predictions.labels)]
    given[predictions.labels.index(label)] = 0
    return predictions.labels[int(given.argmax())] if given.any() else None


def _wrong_ids(members: NDArray[np.int64], predictions: Predictions) -> tuple[str, ...]:
    return tuple(predictions.samples[index].id for index in members if predictions.share_wrong[index] > 0)


def merge_request(notes: Sequence[Edit]) -> DraftRequest:
    """Ask for one note in place of several of a label."""
    messages = ask_to_merge(notes[0].label, [note.text for note in notes])
    return DraftRequest(
        "note", notes[0].label, f"{len(notes)} notes in one", notes[0].provenance.view, (), 0.0, messages
    )
