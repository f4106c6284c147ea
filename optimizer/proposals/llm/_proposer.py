"""A language model as proposer: drafts for the biggest groups and the weakest classes, each checked."""

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

    from psopt.diagnosis import Block, Diagnosis, Group
    from psopt.evaluation import Predictions
    from psopt.models.chat import Writer
    from psopt.search_spaces import EditKind, Messages, Prompt
    from psopt.tasks import Task

MOST_GROUPS, N_DRAFTS, _LATER_TEMPERATURE = 8, 2, 0.8


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
    """Lets a model write notes for groups of weak samples and definitions of weak classes.

    Several drafts are asked for each: the first at temperature 0, the others higher.

    Attributes
    ----------
    writer : Writer
    n_drafts : int
        Drafts for each group and class.
    most_groups : int
        How many groups and classes a round, those most in need first: what is common costs no more calls than what is
        rare.
    refused : list of RefusedDraft
        Every draft that was not used.
    """

    writer: Writer
    n_drafts: int = N_DRAFTS
    most_groups: int = MOST_GROUPS
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
        asked = [_note(prompt, group, predictions, rephrasings) for group in self._groups(diagnosis)]
        asked += [_definition(prompt, label, predictions) for label in self._weak_labels(predictions)]
        asked += [_subclass(prompt, block, predictions) for block in self._weak_blocks(diagnosis)]
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

    def _groups(self, diagnosis: Diagnosis) -> list[Group]:
        named = [group for group in diagnosis.groups if group.label is not None]
        unique = {(group.label, group.topic): group for group in reversed(named)}
        return sorted(unique.values(), key=lambda group: -group.need)[: self.most_groups]

    def _weak_blocks(self, diagnosis: Diagnosis) -> list[Block]:
        """Blocks that are answered as another class."""
        return [block for block in diagnosis.blocks if block.answered != block.label][: self.most_groups]

    def _weak_labels(self, predictions: Predictions) -> list[str]:
        """Labels by how many answers to their samples are wrong, those without a wrong one left out."""
        wrong = predictions.n_rephrasings - predictions.n_right
        n_wrong = {
            label: int(wrong[predictions.truth == index].sum()) for index, label in enumerate(predictions.labels)
        }
        weak = [label for label, n in sorted(n_wrong.items(), key=lambda item: -item[1]) if n]
        return weak[: self.most_groups]


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


def _note(prompt: Prompt, group: Group, predictions: Predictions, rephrasings: Sequence[str]) -> _Asked:
    members = set(group.samples)
    wrong = predictions.share_wrong
    at_stake = [wrong[index] for index, sample in enumerate(predictions.samples) if sample.id in members]
    gain = float(np.sum(at_stake) / len(wrong))
    messages = ask_for_note(prompt, group, predictions, rephrasings)
    return _Asked("note", str(group.label), group.topic, group.view, group.samples, gain, messages)


def _definition(prompt: Prompt, label: str, predictions: Predictions) -> _Asked:
    wrong = predictions.share_wrong
    members = [index for index, sample in enumerate(predictions.samples) if sample.label == label and wrong[index] > 0]
    ids = tuple(predictions.samples[index].id for index in members)
    gain = float(wrong[members].sum() / len(wrong))
    return _Asked("definition", label, label, "accuracy", ids, gain, ask_for_definition(prompt, label, predictions))


def _subclass(prompt: Prompt, block: Block, predictions: Predictions) -> _Asked:
    gain = block.wrong * len(block.samples) / len(predictions.samples)
    messages = ask_for_subclass(prompt, block, predictions)
    topic = f"{block.label}: answered {block.answered}"
    return _Asked("definition", block.label, topic, "consistency", block.samples, gain, messages)


def _merged(notes: Sequence[Edit]) -> _Asked:
    messages = ask_to_merge(notes[0].label, [note.text for note in notes])
    return _Asked("note", notes[0].label, f"{len(notes)} notes in one", notes[0].provenance.view, (), 0.0, messages)
