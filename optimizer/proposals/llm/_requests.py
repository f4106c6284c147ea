"""Requests for drafts: notes on groups, definitions of one label and of all labels."""

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
)
from psopt.search_spaces import Edit, Provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.diagnosis import FailureSlice
    from psopt.evaluation import Predictions
    from psopt.search_spaces import Messages, Prompt

N_WITHOUT_TOPIC = 2
"""How many notes on open answers are requested on any topic: on the most severe samples by each view."""
_MOST_CHARACTERS = 320  # limit of a draft under a grammar: above what the checks allow, but not endless
_MOST_FAILING = 24  # samples behind a note; the first of them are shown. Chosen, not measured
_MOST_LABELS = 20  # labels defined at once: with more, the answer gets long and small models break its form


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """A request for a draft of one edit, or of one edit per label."""

    edit: Edit  # complete except for its text; its label is empty if answers are not single labels
    messages: Messages
    other: str = ""  # the label to which a definition should draw the boundary; empty if there is none
    labels: tuple[str, ...] = ()  # the labels, if all are to be defined at once

    @property
    def schema(self) -> str:
        """The form of the answer as a JSON schema, for models that can be constrained to one."""
        text: dict[str, object] = {"type": "string", "maxLength": _MOST_CHARACTERS}
        if self.labels:
            return json.dumps(_object({"definitions": _object(dict.fromkeys(self.labels, text))}))
        fields: dict[str, dict[str, object]] = {}
        if self.edit.label:
            fields["label"] = {"const": self.edit.label}
        fields[self.edit.kind] = text
        if self.other:
            fields["boundary"] = text
        return json.dumps(_object(fields))


def _object(fields: dict[str, dict[str, object]]) -> dict[str, object]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def note_request(author: str, prompt: Prompt, failing: FailureSlice, predictions: Predictions) -> DraftRequest:
    """Ask for a note on a group of weak samples."""
    ids = set(failing.samples)
    members = [index for index, sample in enumerate(predictions.samples) if sample.id in ids]
    origin = Provenance(author, failing.view, failing.topic, failing.samples)
    edit = Edit("note", str(failing.label), "", origin, _to_gain(members, predictions))
    return DraftRequest(edit, ask_for_note(prompt, failing, members, predictions))


def open_note_requests(
    author: str,
    prompt: Prompt,
    predictions: Predictions,
    topics: Sequence[FailureSlice],
) -> list[DraftRequest]:
    """Ask for notes on open answers: on each topic, on the samples most often wrong, and on the most unstable ones."""
    place = {sample.id: index for index, sample in enumerate(predictions.samples)}

    def request(view: str, members: list[int], topic: str = "") -> DraftRequest:
        origin = Provenance(author, view, topic or f"most severe by {view}", _ids(members, predictions))
        edit = Edit("note", "", "", origin, _to_gain(members, predictions))
        return DraftRequest(edit, ask_for_open_note(prompt, members, predictions, topic))

    requests = []
    for failing in topics:
        members = [place[sample] for sample in failing.samples]
        requests.append(request(failing.view, members, failing.topic))
    for view, severity in (("accuracy", predictions.share_wrong), ("sensitivity", predictions.sensitivities)):
        most_severe = np.argsort(-severity, kind="stable")[:_MOST_FAILING].tolist()
        if members := [index for index in most_severe if severity[index] > 0]:
            requests.append(request(view, members))
    return requests


def definition_requests(author: str, prompt: Prompt, predictions: Predictions, most: int) -> list[DraftRequest]:
    """Ask for all labels' definitions in one style, unless there are too many, and for one of each weak label."""
    wrong = predictions.share_wrong
    by_label = {label: predictions.members(label) for label in predictions.labels}
    weakest = sorted(by_label, key=lambda label: -float(wrong[by_label[label]].sum()))
    weak = [label for label in weakest if wrong[by_label[label]].any()][:most]
    taken_for = {label: _taken_for(label, predictions) for label in weak}

    def unwritten(label: str, topic: str, members: NDArray[np.int64]) -> Edit:
        origin = Provenance(author, "accuracy", topic, _ids(members[wrong[members] > 0], predictions))
        return Edit("definition", label, "", origin, _to_gain(members, predictions))

    requests = []
    if weak and 1 < len(prompt.labels) <= _MOST_LABELS:
        confusions = [(label, rival) for label, rival in taken_for.items() if rival]
        messages = ask_for_all_definitions(prompt, confusions, predictions)
        edit = unwritten("", "all labels", np.arange(len(wrong)))
        requests.append(DraftRequest(edit, messages, labels=tuple(prompt.labels)))
    for label, rival in taken_for.items():
        messages = ask_for_definition(prompt, label, rival, predictions)
        requests.append(DraftRequest(unwritten(label, label, by_label[label]), messages, rival))
    return requests


def _taken_for(label: str, predictions: Predictions) -> str:
    """The other label that a label's samples are given most often; empty if they are given no other."""
    counts = predictions.counts[predictions.members(label)].sum(axis=0)[: len(predictions.labels)]
    counts[predictions.labels.index(label)] = 0
    return predictions.labels[int(counts.argmax())] if counts.any() else ""


def _to_gain(members: Sequence[int] | NDArray[np.int64], predictions: Predictions) -> float:
    """The share of all answers that are wrong answers to these samples."""
    return float(predictions.share_wrong[members].sum() / len(predictions.samples))


def _ids(members: Sequence[int] | NDArray[np.int64], predictions: Predictions) -> tuple[str, ...]:
    return tuple(predictions.samples[index].id for index in members)
