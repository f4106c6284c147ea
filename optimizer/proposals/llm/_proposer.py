"""A language model as proposer: drafts for the biggest slices and the weakest classes, each checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from psopt.proposals._open_topics import topics_of
from psopt.proposals._topics import NoteTopics
from psopt.proposals.llm._draft_checks import DraftChecks, DraftError
from psopt.proposals.llm._requests import (
    N_WITHOUT_TOPIC,
    definition_request,
    merge_request,
    note_request,
    open_note_requests,
    subclass_request,
)
from psopt.proposals.rules._merging import merged_edit, notes_by_label
from psopt.search_spaces import Edit, Provenance
from psopt.templates import template_marks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.diagnosis import AnswerCluster, Diagnosis, FailureSlice
    from psopt.evaluation import Predictions
    from psopt.models.chat import Writer
    from psopt.proposals.llm._requests import DraftRequest
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

# What a round costs: at most 3 x 8 requests, two drafts each. Chosen for that, not measured.
MOST_SLICES = 8
N_DRAFTS = 2
_KEPT = 1000  # characters of a refused draft, in proposals.json
_LATER_TEMPERATURE = 0.8  # at 0 a second draft would be the first again


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
        How many slices and classes a round, those most in need first: what is common costs no more calls than what is
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
        checks = DraftChecks.of(task, in_template=prompt.template is not None)
        requests = self._requests(task, prompt, predictions, diagnosis, rephrasings)
        edits: dict[str, Edit] = {edit.id: edit for edit in pool}
        topics = None if task.spec.is_open else NoteTopics(task, pool, prompt.notes)
        new: list[Edit] = []
        for number in range(self.n_drafts):
            for request, draft in zip(requests, self._drafts(requests, number), strict=True):
                edit = self._checked(request, draft, checks, list(edits.values()), topics)
                if edit is not None and edit.id not in edits:
                    edits[edit.id] = edit
                    new.append(edit)
        return new

    def _requests(
        self, task: Task, prompt: Prompt, predictions: Predictions, diagnosis: Diagnosis, rephrasings: Sequence[str]
    ) -> list[DraftRequest]:
        if task.spec.is_open:
            topics = topics_of(diagnosis.slices)[: max(0, self.most_slices - N_WITHOUT_TOPIC)]
            return open_note_requests(prompt, predictions, rephrasings, topics)
        requests = [note_request(prompt, failing, predictions, rephrasings) for failing in self._slices(diagnosis)]
        requests += [definition_request(prompt, label, predictions) for label in self._weak_labels(predictions)]
        requests += [subclass_request(prompt, cluster, predictions) for cluster in self._confused_clusters(diagnosis)]
        return requests

    def refuse(self, objections: Mapping[Edit, str]) -> None:
        """Take down why edits that it has drafted are not used after all; others are not its own."""
        for edit, why in objections.items():
            origin = edit.provenance
            if origin.author == self.writer.name:
                self.refused.append(RefusedDraft(edit.kind, edit.label, origin.topic, origin.author, edit.text, why))

    def merge(self, task: Task, edits: Sequence[Edit]) -> list[Edit]:
        """Return a shorter note for each label of which `edits` hold several that a model wrote."""
        if task.spec.is_open:  # notes on the form of an answer, and on what to look for, are about different things
            return []
        # Notes that hold no braces are said in one without braces, of whichever prompt they are.
        checks = DraftChecks.of(task, in_template=not any(template_marks(edit.text) for edit in edits))
        several = notes_by_label(edits, lambda edit: edit.provenance.author != "rules")
        requests = [merge_request(notes) for notes in several]
        merged = []
        for notes, request, draft in zip(several, requests, self._drafts(requests), strict=True):
            edit = self._checked(request, draft, checks, edits)
            if edit is not None and len(edit.text) < sum(len(note.text) for note in notes):
                merged.append(merged_edit(notes, edit.text, self.writer.name))
        return merged

    def _drafts(self, requests: Sequence[DraftRequest], number: int = 0) -> list[str]:
        """What the model writes to each request, the first time or another one."""
        conversations = [request.messages for request in requests]
        temperature = _LATER_TEMPERATURE if number else 0.0
        return self.writer.write(conversations, temperature=temperature, sample=number) if requests else []

    def _checked(
        self,
        request: DraftRequest,
        draft: str,
        checks: DraftChecks,
        pool: Sequence[Edit],
        topics: NoteTopics | None = None,
    ) -> Edit | None:
        """The edit of a draft; None, with the reason taken down, where it is refused."""
        author = self.writer.name
        try:
            text = checks.read(draft, request.kind, request.label, [edit.text for edit in pool])
            if topics and request.kind == "note":
                _take_topic(text, topics)
        except DraftError as error:
            refused = RefusedDraft(request.kind, request.label, request.topic, author, draft[:_KEPT], str(error))
            self.refused.append(refused)
            return None
        origin = Provenance(author, request.view, request.topic, request.samples)
        return Edit(request.kind, request.label, text, origin, request.gain)

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


def _take_topic(text: str, topics: NoteTopics) -> None:
    if topics.is_taken(text):
        raise DraftError("is about what another note is about")
    topics.take(text)
