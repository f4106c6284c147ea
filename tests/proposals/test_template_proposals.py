"""Edits of a user's own prompt: the model reads that prompt, and nothing is proposed that would read as a field."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import Predictions
from psopt.proposals import propose_edits
from psopt.proposals.llm import DraftChecks, LLMProposer
from psopt.search_spaces import Prompt, seed_prompt
from psopt.tasks import Row, Sample
from psopt.templates import ExampleForm, Field, Message, Part, Slot, Template

from tests.proposals.drafts import DraftError, asked_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.tasks import Task

SUBJECT, BODY = Field("subject", "{subject}"), Field("body", "{{ body }}")
TEMPLATE = Template(
    (
        Message("system", ("Be kind.\n\n", Part(0), Slot("notes", opening="\n\n"))),
        Message("user", (Slot("examples", closing="\n\n"), SUBJECT, "\n", BODY)),
    ),
    example=ExampleForm((SUBJECT, "\n", BODY)),
)


class Scribe:
    """Writes the same draft to every request, and keeps the requests."""

    name = "test/scribe"

    def __init__(self, note: str) -> None:
        self.note = note
        self.requests: list[str] = []

    def write(self, conversations: Sequence[Any], **_: object) -> list[str]:
        self.requests += [messages[-1]["content"] for messages in conversations]
        about = [asked_label(messages[-1]["content"]) for messages in conversations]
        return [json.dumps({"label": label, "note": self.note, "definition": self.note}) for label in about]


@pytest.fixture
def mails(task: Task) -> Predictions:
    """Mails of which every second one is answered wrong; two of those hold what reads as a field."""
    texts = ["when did it end", "who built it", "when will {body} come", "who wrote <rephrase> there"] * 3
    rows = [Row.of({"subject": f"mail {i}", "body": text}, ("subject", "body")) for i, text in enumerate(texts)]
    samples = tuple(Sample(str(i), row, "Number" if i % 2 == 0 else "Person") for i, row in enumerate(rows))
    answers = np.array([[0, 1, 0] for _ in samples])
    return Predictions(answers, samples, task.labels)


def test_the_model_reads_the_users_prompt_and_hears_of_its_fields(task: Task, mails: Predictions) -> None:
    prompt = Prompt("Sort the mail.\n\nBe quick.", task.labels, "mail", notes=("A note.",), template=TEMPLATE)
    scribe = Scribe("Whatever the subject calls urgent belongs to Number.")
    prompt = replace(prompt, description="Sort the mail.")
    rephrasings = ("Sort the mail.", "Do sort\n\nthe mail.", "Please sort.")
    proposer = LLMProposer(scribe)  # type: ignore[arg-type]
    edits = proposer.propose(task, prompt, mails, diagnose_predictions(mails), rephrasings)
    assert {edit.text for edit in edits} == {scribe.note, f"Person: {scribe.note}"}
    for request in scribe.requests:
        assert "Be kind.\n\nSort the mail.\n\n- A note." in request
        assert "{subject}\n{{ body }}\n" in request
        assert "Its fields are subject, body." in request
        assert '{"fields": {"subject": "mail' in request
        assert "Answer with exactly one of these labels" not in request


@pytest.mark.parametrize("mark", ["{body}", "{{ body }}", "{{psopt.notes}}", "<rephrase>"])
def test_a_note_must_not_read_as_a_field_of_the_template(mark: str) -> None:
    draft = json.dumps({"label": "Number", "note": f"A date in {mark} belongs to Number."})
    with pytest.raises(DraftError, match="which reads as a field"):
        DraftChecks(("Number",), (), in_template=True).read(draft, "note", "Number", ())
    assert DraftChecks(("Number",), ()).read(draft, "note", "Number", ())


def test_no_edit_by_rule_would_put_a_field_into_the_exported_template(task: Task, mails: Predictions) -> None:
    prompt = Prompt("Sort the mail.", task.labels, "mail", template=TEMPLATE)
    diagnosis = diagnose_predictions(mails)
    own = propose_edits(task, seed_prompt(task), mails, diagnosis)
    edits = propose_edits(task, prompt, mails, diagnosis)
    assert any("{body}" in edit.text for edit in own)
    assert {edit.kind for edit in edits} >= {"note", "example"}
    assert not any("{body}" in edit.text or "<rephrase>" in edit.text for edit in edits)
