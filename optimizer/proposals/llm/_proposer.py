"""A language model as proposer: drafts for the weakest groups and labels, each checked."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from psopt.diagnosis import distinct_slices
from psopt.proposals._quoted_phrases import NoteTopics, with_support
from psopt.proposals.llm._draft_checks import DraftChecks, DraftError, RepeatedDraftError, parsed
from psopt.proposals.llm._requests import (
    N_WITHOUT_TOPIC,
    ask_again,
    definition_requests,
    note_request,
    open_note_requests,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psopt.diagnosis import Diagnosis
    from psopt.evaluation import Predictions
    from psopt.models import OnProgress
    from psopt.models.chat import Writer
    from psopt.proposals._checks import ProposalChecks
    from psopt.proposals.llm._requests import DraftRequest
    from psopt.search_spaces import Edit, Prompt
    from psopt.tasks import Task

# Groups and labels per round, those most in need first. It limits a round's cost: at most 13 requests, each repeated
# once if its draft is refused. Chosen, not measured.
MOST_SLICES = 6
_TEMPERATURES = (0.0, 0.8)  # of each attempt; at 0 a second draft would often equal the first
_ENOUGH_TO_JUDGE = 4  # drafts before a writer is judged; chosen, not measured
_KEPT = 1000  # characters of a refused draft, in proposals.json


@dataclass(frozen=True, slots=True)
class RefusedDraft:
    """A draft that failed the checks: which request it answered, who wrote it, and why it is not used."""

    kind: str
    label: str
    topic: str
    author: str
    written: str
    reason: str


@dataclass(eq=False)
class LLMProposer:
    """Asks a model for notes on groups of weak samples, and for definitions of labels.

    A refused draft is requested once more, with the reason. A writer whose drafts are mostly refused is unfit: none of
    its drafts is used, since those that pass do so by chance, and it is not asked again.
    """

    writer: Writer
    # Comments on the answers of a prompt, as a metric makes them, by the sample's text
    remarks: Callable[[Prompt, Predictions], Mapping[str, str]] | None = None
    refused: list[RefusedDraft] = field(default_factory=list)  # every draft that was not used
    unfit: str = ""  # why the writer is unfit; empty if it is not

    def propose(
        self,
        task: Task,
        prompt: Prompt,
        predictions: Predictions,
        diagnosis: Diagnosis,
        pool: Sequence[Edit] = (),
        checks: ProposalChecks | None = None,
        on_progress: OnProgress | None = None,
    ) -> list[Edit]:
        """Return edits that passed the checks; `predictions` are of train samples."""
        if self.unfit:
            return []
        if self.remarks is not None:
            predictions = replace(predictions, remarks=self.remarks(prompt, predictions))
        draft_checks = DraftChecks.of(task, checks, in_template=prompt.template is not None)
        topics = None if task.spec.is_open else NoteTopics(task, pool, prompt.notes)
        requests = self._requests(task, prompt, predictions, diagnosis)
        new: list[Edit] = []
        n_requests = len(requests)
        for number in range(len(_TEMPERATURES)):
            again = []
            n_bad = 0
            for request, draft in zip(requests, self._drafts(requests, number, on_progress), strict=True):
                try:
                    new += self._read(request, draft, draft_checks, [*pool, *new], topics)
                except DraftError as error:
                    self._refuse(request.edit, draft, str(error))
                    again.append(replace(request, messages=ask_again(request.messages, draft, str(error))))
                    n_bad += not isinstance(error, RepeatedDraftError)
            requests = again
        if n_requests >= _ENOUGH_TO_JUDGE and 2 * n_bad > n_requests:
            self.unfit = f"{n_bad} of {n_requests} drafts of {self.writer.name} can't be used"
            self.refuse(dict.fromkeys(new, self.unfit))
            return []
        return with_support(new, task)

    def _requests(
        self, task: Task, prompt: Prompt, predictions: Predictions, diagnosis: Diagnosis
    ) -> list[DraftRequest]:
        author = self.writer.name
        slices = distinct_slices(diagnosis.slices)
        if task.spec.is_open:
            return open_note_requests(author, prompt, predictions, slices[: MOST_SLICES - N_WITHOUT_TOPIC])
        requests = definition_requests(author, prompt, predictions, MOST_SLICES)
        named = [failing for failing in slices if failing.label is not None][:MOST_SLICES]
        return requests + [note_request(author, prompt, failing, predictions) for failing in named]

    def refuse(self, objections: Mapping[Edit, str]) -> None:
        """Record why edits that it drafted are not used after all; edits by others are ignored."""
        for edit, why in objections.items():
            if edit.provenance.author == self.writer.name:
                self._refuse(edit, edit.text, why)

    def _refuse(self, edit: Edit, written: str, reason: str) -> None:
        origin = edit.provenance
        self.refused.append(RefusedDraft(edit.kind, edit.label, origin.topic, origin.author, written[:_KEPT], reason))

    def _drafts(self, requests: Sequence[DraftRequest], number: int, on_progress: OnProgress | None) -> list[str]:
        """What the model writes for each request, on the first or a later attempt."""
        if not requests:
            return []
        return self.writer.write(
            [request.messages for request in requests],
            temperature=_TEMPERATURES[number],
            sample=number,
            schemas=[request.schema for request in requests],
            on_progress=on_progress,
        )

    def _read(
        self, request: DraftRequest, draft: str, checks: DraftChecks, pool: Sequence[Edit], topics: NoteTopics | None
    ) -> list[Edit]:
        """The edit of a draft, or those of all labels; raises `DraftError` if it is refused."""
        taken = [edit.text for edit in pool]
        if request.labels:
            return _of_all_labels(request, draft, checks, taken)
        text = checks.read(draft, request.edit.kind, request.edit.label, taken)
        checks.check_is_own(text, request.messages)
        if topics and request.edit.kind == "note":
            if topics.is_taken(text):
                raise RepeatedDraftError("is about what another note is about")
            topics.take(text)
        return [replace(request.edit, text=text)]


def _of_all_labels(request: DraftRequest, draft: str, checks: DraftChecks, taken: Sequence[str]) -> list[Edit]:
    """Definitions in one style, switched on together: those that pass the checks, if at least half do."""
    written = parsed(draft, "definitions", dict)["definitions"]
    gain = request.edit.gain / len(request.labels)
    edits, objections = [], []
    for label in request.labels:
        try:
            text = checks.check(str(written.get(label, "")), "definition", label, taken)
            checks.check_is_own(text, request.messages)
            edits.append(replace(request.edit, label=label, text=text, gain=gain))
        except DraftError as error:
            objections.append(f"{label} {error}")
    if 2 * len(edits) < max(len(request.labels), 4):
        raise DraftError("; ".join(objections))
    bundle = f"definitions of all labels ({'+'.join(edit.id for edit in edits)})"
    return [replace(edit, bundle=bundle) for edit in edits]
