"""Edits from rows of several columns, and of a user's own prompt: fields are named, and nothing reads as a field."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import Predictions
from psopt.models.sim import SimulatedModel
from psopt.proposals import merged_notes, note_text, propose_edits
from psopt.proposals.llm import DraftChecks, DraftError, LLMProposer
from psopt.search_spaces import Edit, Prompt, Provenance, apply_edits, render, seed_prompt
from psopt.tasks import Row, Sample, Task, sample_shows
from psopt.templates import ExampleForm, Field, Message, Part, Slot, Template
from psopt.text import label_mentions

from tests.proposals.drafts import Writer, asked_label, draft_of
from tests.sweeps import each

LABELS = ("billing", "sales")
BODY = Field("body", "{body}")
TEMPLATE = Template(
    (Message("user", (Slot("examples", bullet="", joint="\n\n", closing="\n\n"), BODY, "\nTeam:")),),
    answer="json:team",
    example=ExampleForm((BODY,), "\nTeam: ", label_key="team", keys=("reason", "team")),
)


@pytest.fixture(scope="module")
def own_task() -> Any:
    words = ["oak", "elm", "ash", "fir", "yew", "bay", "fig", "box", "rye", "oat", "pea", "hop", "gum", "may", "tea"]
    records = []
    for number, word in enumerate(words):
        billing = {"subject": f"Invoice {word}", "body": f"fix {word} {{subject}}", "reason": f"pays {word}"}
        sales = {"subject": f"Offer {word}", "body": f"an invoice, later: {word}", "reason": f"buys {word}"}
        records += [{**billing, "team": "billing", "id": 2 * number}, {**sales, "team": "sales", "id": 2 * number + 1}]
    return Task.from_records(records, inputs=("subject", "body"), label_column="team", noun="mail")


@pytest.fixture(scope="module")
def pool(own_task: Any) -> Any:
    truth = np.array([LABELS.index(sample.label) for sample in own_task.train])
    array = np.repeat(truth[:, None], 4, axis=1)
    array[truth == 0, :2] = 1
    predictions = Predictions(array, own_task.train, LABELS)
    return propose_edits(own_task, seed_prompt(own_task), predictions, diagnose_predictions(predictions))


def test_a_note_names_the_field_and_is_obeyed_by_it(own_task: Any, pool: Any) -> None:
    note = next(edit for edit in pool if edit.kind == "note")
    assert note.text.startswith(("A mail whose subject ", "A mail whose body "))
    (mention,) = label_mentions(note.text, LABELS)
    of_label = [sample.text for sample in own_task.test if sample.label == note.label]
    others = [sample.text for sample in own_task.test if sample.label != note.label]
    assert all(any(sample_shows(text, cue) for cue in mention.cues) for text in of_label)
    assert not any(sample_shows(text, cue) for text in others for cue in mention.cues)
    model = SimulatedModel("wobble=1", own_task)
    prompts = [seed_prompt(own_task), apply_edits(seed_prompt(own_task), [note])]
    before, after = (model.profiles(prompt, of_label + others) for prompt in prompts)
    assert (before != after).any(axis=1).tolist() == [True] * len(of_label) + [False] * len(others)


@each(
    "phrases",
    [
        ("subject: ^invoice", "body: too high", "body: refund"),
        ("late", "^dear", "Betreff 2: rechnung"),
        ("body: ^hi", "body: all", "user_input: ^x"),
    ],
)
def test_a_note_by_rule_is_read_as_it_was_meant(phrases: Any) -> None:
    (mention,) = label_mentions(note_text("mail", phrases, "billing"), LABELS)
    assert set(mention.cues) == set(phrases)
    assert note_text("mail", mention.cues, "billing") == note_text("mail", phrases, "billing")
    assert ":" not in mention.topic
    assert "^" not in mention.topic


def test_notes_of_fields_are_merged_without_what_another_implies() -> None:
    origin = Provenance("rules", "accuracy", "", ("1",))
    texts = [
        note_text("mail", phrases, "billing")
        for phrases in (["subject: ^invoice due", "body: refund"], ["subject: ^invoice", "refund", "body: bill"])
    ]
    (merged,) = merged_notes([Edit("note", "billing", text, origin) for text in texts], LABELS, "mail")
    wanted = (
        'A mail that contains "refund" or whose subject begins with "invoice" or whose body contains "bill" usually'
    )
    assert merged.text == f"{wanted} belongs to billing."
    # a note about answers of plain texts means what it meant
    (mention,) = label_mentions('Mails whose first word starts with "invoice" go to billing.', LABELS)
    assert sample_shows("Invoice, please", mention.cues[0])
    assert not sample_shows("Please: invoice", mention.cues[0])


def test_an_example_carries_its_columns_into_a_template_alone(own_task: Any, pool: Any) -> None:
    example = next(edit for edit in pool if edit.kind == "example")
    sample = next(sample for sample in own_task.train if sample.id == example.provenance.samples[0])
    assert dict(example.fields) == sample.text.fields
    assert Edit.from_dict(example.to_dict()) == example
    own = apply_edits(seed_prompt(own_task), [example])
    assert own.examples[0].fields == ()
    prompt = apply_edits(Prompt("Sort.", LABELS, template=TEMPLATE), [example, example])
    (message,) = render(Prompt.from_dict(prompt.to_dict()), Row.of({"body": "new {body}"}, ("body",)))
    fields = sample.text.fields
    answer = f'{{"reason": "{fields["reason"]}", "team": "{sample.label}"}}'
    assert message["content"] == f"{fields['body']}\nTeam: {answer}\n\nnew {{body}}\nTeam:"


SUBJECT, OWN_BODY = Field("subject", "{subject}"), Field("body", "{{ body }}")
OWN = Template(
    (
        Message("system", ("Be kind.\n\n", Part(0), Slot("notes", opening="\n\n"))),
        Message("user", (Slot("examples", closing="\n\n"), SUBJECT, "\n", OWN_BODY)),
    ),
    example=ExampleForm((SUBJECT, "\n", OWN_BODY)),
)


@pytest.fixture
def mails(task: Task) -> Predictions:
    """Mails of which every second one is answered wrong; some hold what an exported prompt must not."""
    texts = ["when did it end", "who built it", "when will {body} come", "who wrote {% if x %} in $subject"] * 3
    rows = [Row.of({"subject": f"mail {i}", "body": text}, ("subject", "body")) for i, text in enumerate(texts)]
    samples = tuple(Sample(str(i), row, "Number" if i % 2 == 0 else "Person") for i, row in enumerate(rows))
    return Predictions(np.array([[0, 1, 0] for _ in samples]), samples, task.labels)


def test_the_model_reads_the_users_prompt_and_hears_of_its_fields(task: Task, mails: Predictions) -> None:
    prompt = Prompt("Sort the mail.", task.labels, "mail", notes=("A note.",), template=OWN)
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


@each("mark", ["{body}", "{{ body }}", "{{psopt.notes}}", "<rephrase>", "{% x %}", "[INST]"])
def test_a_note_must_not_read_as_a_field_of_the_template(mark: str) -> None:
    draft = draft_of("Number", note=f"A date in {mark} belongs to Number.")
    with pytest.raises(DraftError, match="which reads as a field"):
        DraftChecks(("Number",), (), in_template=True).read(draft, "note", "Number", ())
    assert DraftChecks(("Number",), ()).read(draft, "note", "Number", ())


def test_no_edit_by_rule_would_put_a_field_into_the_exported_template(task: Task, mails: Predictions) -> None:
    prompt = Prompt("Sort the mail.", task.labels, "mail", template=OWN)
    diagnosis = diagnose_predictions(mails)
    assert any("{body}" in edit.text for edit in propose_edits(task, seed_prompt(task), mails, diagnosis))
    edits = propose_edits(task, prompt, mails, diagnosis)
    assert {edit.kind for edit in edits} >= {"note", "example"}
    assert not any("{body}" in edit.text or "{%" in edit.text for edit in edits)
