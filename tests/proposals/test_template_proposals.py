"""Edits of a user's own prompt: the model reads that prompt, and nothing is proposed that would read as a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import Predictions
from psopt.proposals import propose_edits
from psopt.proposals.llm import DraftChecks, DraftError, LLMProposer
from psopt.search_spaces import Prompt, seed_prompt
from psopt.tasks import Row, Sample
from psopt.templates import ExampleForm, Field, Message, Part, Slot, Template

from tests.proposals.drafts import Writer, asked_label, draft_of

if TYPE_CHECKING:
    from psopt.tasks import Task

SUBJECT, BODY = Field("subject", "{subject}"), Field("body", "{{ body }}")
TEMPLATE = Template(
    (
        Message("system", ("Be kind.\n\n", Part(0), Slot("notes", opening="\n\n"))),
        Message("user", (Slot("examples", closing="\n\n"), SUBJECT, "\n", BODY)),
    ),
    example=ExampleForm((SUBJECT, "\n", BODY)),
)


@pytest.fixture
def mails(task: Task) -> Predictions:
    """Mails of which every second one is answered wrong; some hold what an exported prompt must not."""
    texts = ["when did it end", "who built it", "when will {body} come", "who wrote {% if x %} in $subject"] * 3
    rows = [Row.of({"subject": f"mail {i}", "body": text}, ("subject", "body")) for i, text in enumerate(texts)]
    samples = tuple(Sample(str(i), row, "Number" if i % 2 == 0 else "Person") for i, row in enumerate(rows))
    return Predictions(np.array([[0, 1, 0] for _ in samples]), samples, task.labels)


def test_the_model_reads_the_users_prompt_and_hears_of_its_fields(task: Task, mails: Predictions) -> None:
    prompt = Prompt("Sort the mail.", task.labels, "mail", notes=("A note.",), template=TEMPLATE)
    note = "Whatever the subject calls urgent belongs to Number."
    writer: Any = Writer(lambda request: draft_of(asked_label(request), note=note, definition=note))
    edits = LLMProposer(writer).propose(task, prompt, mails, diagnose_predictions(mails))
    assert {edit.text for edit in edits} == {note, f"Person: {note}"}
    for request in writer.asked:
        assert "Be kind.\n\nSort the mail.\n\n- A note." in request
        assert "{subject}\n{{ body }}\n" in request
        assert "Its fields are subject, body." in request
        assert '{"fields": {"subject": "mail' in request
        assert "Answer with exactly one of these labels" not in request


@pytest.mark.parametrize("mark", ["{body}", "{{ body }}", "{{psopt.notes}}", "<rephrase>", "{% x %}", "[INST]"])
def test_a_note_must_not_read_as_a_field_of_the_template(mark: str) -> None:
    draft = draft_of("Number", note=f"A date in {mark} belongs to Number.")
    with pytest.raises(DraftError, match="which reads as a field"):
        DraftChecks(("Number",), (), in_template=True).read(draft, "note", "Number", ())
    assert DraftChecks(("Number",), ()).read(draft, "note", "Number", ())


def test_no_edit_by_rule_would_put_a_field_into_the_exported_template(task: Task, mails: Predictions) -> None:
    prompt = Prompt("Sort the mail.", task.labels, "mail", template=TEMPLATE)
    diagnosis = diagnose_predictions(mails)
    assert any("{body}" in edit.text for edit in propose_edits(task, seed_prompt(task), mails, diagnosis))
    edits = propose_edits(task, prompt, mails, diagnosis)
    assert {edit.kind for edit in edits} >= {"note", "example"}
    assert not any("{body}" in edit.text or "{%" in edit.text for edit in edits)
