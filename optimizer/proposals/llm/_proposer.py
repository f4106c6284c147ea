"""A language model as proposer: drafts for the biggest slices and the weakest classes, each checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from psopt.proposals.llm._draft_checks import DraftChecks, DraftError
from psopt.proposals.llm._requests import ask_for_definition, ask_for_note, ask_for_subclass, ask_to_merge
from psopt.proposals.rules._merging import merged_edit, notes_by_label
from psopt.search_spaces import Edit, Provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.diagnosis import AnswerCluster, Diagnosis, FailureSlice
    from psopt.evaluation import Predictions
    from psopt.models.chat import Writer
    from psopt.search_spaces import EditKind, Messages, Prompt
    from psopt.tasks import Task

MOST_SLICES, N_DRAFTS, _LATER_TEMPERATURE = 8, 2, 0.8


@dataclass(frozen=True, slots=True)
class RefusedDraft:
    """A draft that did not pass the checks: what it answered, who wrote it, and why it is not used."""

    kind: str
    label: str
    topic: str
    author: str
    written: str
    reason: str


@dataclass(eq=False)
class LLMProposer:
    """Lets a model write notes for slices of weak samples and definitions of weak classes.

    Several drafts are asked for each: the first at temperature 0, the others higher.

    Attributes
    ----------
    writer : Writer
    n_drafts : int
        Drafts for each slice and class.
    most_slices : int
        How many slices and classes a round, the most severe first: what is common costs no more calls than what is
        rare.
    refused : list of RefusedDraft
        Every draft that was not used.
    """

    writer: Writer
    n_drafts: int = N_DRAFTS
    most_slices: int = MOST_SLICES
    refused: list[RefusedDraft] = field(default_factory=list)

    def propose(
        self,
        task: Task,
        prompt: Prompt,
        predictions: Predictions,
        diagnosis: Diagnosis,
        rephrasings: Sequence[str],
        pool: Sequence[Edit] = (),
    ) -> list[Edit]:
        """Return edits that passed the checks; `predictions` are of train samples under `rephrasings`."""
        checks = DraftChecks(tuple(task.labels), tuple(sample.text for sample in task.train))
        asked = [_note(prompt, failing, predictions, rephrasings) for failing in self._slices(diagnosis)]
        asked += [_definition(prompt, label, predictions) for label in self._weak_labels(predictions)]
        asked += [_subclass(prompt, cluster, predictions) for cluster in self._confused_clusters(diagnosis)]
        edits: dict[str, Edit] = {edit.id: edit for edit in pool}
        new: list[Edit] = []
        for draft in range(self.n_drafts):
            temperature = _LATER_TEMPERATURE if draft else 0.0
            conversations = [one.messages for one in asked]
            written = self.writer.write(conversations, temperature=temperature, sample=draft)
            for one, text in zip(asked, written, strict=True):
                edit = self._checked(one, text, checks, list(edits.values()))
                if edit is not None and edit.id not in edits:
                    edits[edit.id] = edit
                    new.append(edit)
        return new

    def merge(self, task: Task, edits: Sequence[Edit]) -> list[Edit]:
        """Return a shorter note for each label of which `edits` hold several that a model wrote."""
        checks = DraftChecks(tuple(task.labels), tuple(sample.text for sample in task.train))
        several = notes_by_label(edits, lambda edit: edit.provenance.author != "rules")
        asked = [_merged(notes) for notes in several]
        written = self.writer.write([one.messages for one in asked], temperature=0.0, sample=0) if asked else []
        merged = []
        for notes, one, text in zip(several, asked, written, strict=True):
            edit = self._checked(one, text, checks, edits)
            if edit is not None and len(edit.text) < sum(len(note.text) for note in notes):
                merged.append(merged_edit(notes, edit.text, self.writer.name))
        return merged

    def _checked(self, asked: _Asked, written: str, checks: DraftChecks, pool: Sequence[Edit]) -> Edit | None:
        try:
            text = checks.read(written, asked.kind, asked.label, [edit.text for edit in pool])
        except DraftError as error:
            self.refused.append(
                RefusedDraft(asked.kind, asked.label, asked.topic, self.writer.name, written[:1000], str(error))
            )
            return None
        origin = Provenance(self.writer.name, asked.view, asked.topic, asked.samples)
        return Edit(asked.kind, asked.label, text, origin, asked.gain)

    def _slices(self, diagnosis: Diagnosis) -> list[FailureSlice]:
        named = [failing for failing in diagnosis.slices if failing.label is not None]
        unique = {(failing.label, failing.topic): failing for failing in reversed(named)}
        return sorted(unique.values(), key=lambda failing: -failing.severity)[: self.most_slices]

    def _confused_clusters(self, diagnosis: Diagnosis) -> list[AnswerCluster]:
        """Clusters that are answered as another class."""
        return [cluster for cluster in diagnosis.clusters if cluster.answered != cluster.label][: self.most_slices]

    def _weak_labels(self, predictions: Predictions) -> list[str]:
        """Labels by how many answers to their samples are wrong, those without a wrong one left out."""
        wrong = predictions.n_rephrasings - predictions.n_right
        n_wrong = {
            label: int(wrong[predictions.truth == index].sum()) for index, label in enumerate(predictions.labels)
        }
        weak = [label for label, n in sorted(n_wrong.items(), key=lambda item: -item[1]) if n]
        return weak[: self.most_slices]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One thing that drafts are asked for."""

    kind: EditKind
    label: str
    topic: str
    view: str
    samples: tuple[str, ...]
    gain: float
    messages: Messages


def _note(prompt: Prompt, failing: FailureSlice, predictions: Predictions, rephrasings: Sequence[str]) -> _Asked:
    members = set(failing.samples)
    wrong = predictions.share_wrong
    at_stake = [wrong[index] for index, sample in enumerate(predictions.samples) if sample.id in members]
    gain = float(np.sum(at_stake) / len(wrong))
    messages = ask_for_note(prompt, failing, predictions, rephrasings)
    return _Asked("note", str(failing.label), failing.topic, failing.view, failing.samples, gain, messages)


def _definition(prompt: Prompt, label: str, predictions: Predictions) -> _Asked:
    wrong = predictions.share_wrong
    members = [index for index, sample in enumerate(predictions.samples) if sample.label == label and wrong[index] > 0]
    ids = tuple(predictions.samples[index].id for index in members)
    gain = float(wrong[members].sum() / len(wrong))
    return _Asked("definition", label, label, "accuracy", ids, gain, ask_for_definition(prompt, label, predictions))


def _subclass(prompt: Prompt, cluster: AnswerCluster, predictions: Predictions) -> _Asked:
    gain = cluster.wrong * len(cluster.samples) / len(predictions.samples)
    messages = ask_for_subclass(prompt, cluster, predictions)
    topic = f"{cluster.label}: answered {cluster.answered}"
    return _Asked("definition", cluster.label, topic, "consistency", cluster.samples, gain, messages)


def _merged(notes: Sequence[Edit]) -> _Asked:
    messages = ask_to_merge(notes[0].label, [note.text for note in notes])
    return _Asked("note", notes[0].label, f"{len(notes)} notes in one", notes[0].provenance.view, (), 0.0, messages)
