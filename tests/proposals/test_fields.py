"""Edits from rows of several columns: notes name the field and are read again, examples carry their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import Predictions
from psopt.models.sim import SimulatedModel
from psopt.proposals import merged_notes, note_text, propose_edits
from psopt.search_spaces import Edit, Prompt, Provenance, apply_edits, render, seed_prompt
from psopt.tasks import Row, Task, sample_shows
from psopt.templates import ExampleForm, Field, Message, Slot, Template
from psopt.text import label_mentions

LABELS = ("billing", "sales")
BODY = Field("body", "{body}")
TEMPLATE = Template(
    (Message("user", (Slot("examples", bullet="", joint="\n\n", closing="\n\n"), BODY, "\nTeam:")),),
    answer="json:team",
    example=ExampleForm((BODY,), "\nTeam: ", label_key="team", keys=("reason", "team")),
)


@pytest.fixture(scope="module")
def task() -> Any:
    words = ["oak", "elm", "ash", "fir", "yew", "bay", "fig", "box", "rye", "oat", "pea", "hop", "gum", "may", "tea"]
    records = []
    for number, word in enumerate(words):
        billing = {"subject": f"Invoice {word}", "body": f"fix {word} {{subject}}", "reason": f"pays {word}"}
        sales = {"subject": f"Offer {word}", "body": f"an invoice, later: {word}", "reason": f"buys {word}"}
        records += [{**billing, "team": "billing", "id": 2 * number}, {**sales, "team": "sales", "id": 2 * number + 1}]
    return Task.from_records(records, inputs=("subject", "body"), label_column="team", noun="mail")


@pytest.fixture(scope="module")
def pool(task: Any) -> Any:
    truth = np.array([LABELS.index(sample.label) for sample in task.train])
    array = np.repeat(truth[:, None], 4, axis=1)
    array[truth == 0, :2] = 1
    predictions = Predictions(array, task.train, LABELS)
    return propose_edits(task, seed_prompt(task), predictions, diagnose_predictions(predictions))


def test_a_note_names_the_field_and_is_obeyed_by_it(task: Any, pool: Any) -> None:
    note = next(edit for edit in pool if edit.kind == "note")
    assert note.text.startswith(("A mail whose subject ", "A mail whose body "))
    (mention,) = label_mentions(note.text, LABELS)
    of_label = [sample.text for sample in task.test if sample.label == note.label]
    others = [sample.text for sample in task.test if sample.label != note.label]
    assert all(any(sample_shows(text, cue) for cue in mention.cues) for text in of_label)
    assert not any(sample_shows(text, cue) for text in others for cue in mention.cues)
    model = SimulatedModel("wobble=1", task)
    prompts = [seed_prompt(task), apply_edits(seed_prompt(task), [note])]
    before, after = (model.profiles(prompt, of_label + others) for prompt in prompts)
    assert (before != after).any(axis=1).tolist() == [True] * len(of_label) + [False] * len(others)


@pytest.mark.parametrize(
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


def test_an_example_carries_its_columns_into_a_template_alone(task: Any, pool: Any) -> None:
    example = next(edit for edit in pool if edit.kind == "example")
    sample = next(sample for sample in task.train if sample.id == example.provenance.samples[0])
    assert dict(example.fields) == sample.text.fields
    assert Edit.from_dict(example.to_dict()) == example
    own = apply_edits(seed_prompt(task), [example])
    assert own.examples[0].fields == ()
    prompt = apply_edits(Prompt("Sort.", LABELS, template=TEMPLATE), [example, example])
    (message,) = render(Prompt.from_dict(prompt.to_dict()), Row.of({"body": "new {body}"}, ("body",)))
    fields = sample.text.fields
    answer = f'{{"reason": "{fields["reason"]}", "team": "{sample.label}"}}'
    assert message["content"] == f"{fields['body']}\nTeam: {answer}\n\nnew {{body}}\nTeam:"
