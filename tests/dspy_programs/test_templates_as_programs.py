"""A prompt of the user's own as a `dspy.Predict`: its fields as inputs, its text as instructions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import pytest
from psopt.search_spaces import Definition, Example, Prompt
from psopt.templates import ExampleForm, Field, Message, Part, Slot, Template

dspy = pytest.importorskip("dspy", reason="the extra `dspy` is not installed")

from psopt.dspy_programs import predict_state  # noqa: E402
from psopt.models import minilm_lm  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

SUBJECT, BODY = Field("subject", "{subject}"), Field("mail body", "{mail body}")
SLOTS = (Slot("definitions", opening="\n\n# Teams\n"), Slot("notes", opening="\n\n# Notes\n"))
ASK = '\n\nAnswer as JSON: {"team": "..", "reason": ".."}'
MAIL = ("<mail>\n", SUBJECT, "\n", BODY, "\n</mail>")
TEMPLATE = Template(
    (Message("system", ("# Mail\n\n", Part(0), *SLOTS, ASK)), Message("user", MAIL)),
    answer="json:team",
    example=ExampleForm(MAIL, label_key="team", keys=("team",), turns=True),
)
PROMPT = Prompt(
    "Which team answers?",
    ("billing", "sales"),
    definitions=(Definition("sales", "offers"),),
    notes=("Bills go to billing.",),
    examples=(Example("Bill", "billing", fields=(("subject", "Bill"), ("mail body", "Too high"))),),
    template=TEMPLATE,
)


def test_fields_are_inputs_and_text_without_them_is_the_instructions() -> None:
    state = predict_state(PROMPT)
    instructions = "# Mail\n\nWhich team answers?\n\n# Teams\n- sales: offers\n\n# Notes\n- Bills go to billing."
    assert state["signature"]["instructions"] == instructions
    assert state["demos"] == [{"subject": "Bill", "mail_body": "Too high", "label": "billing"}]


def test_what_stands_before_a_field_in_its_paragraph_is_kept_and_few_shot_turns_are_not() -> None:
    turns = (Message("user", ("Mail: hello",)), Message("assistant", ("sales",)))
    messages = (*turns, Message("user", (Part(0), "\nMail: ", BODY, "\nFrom: ", SUBJECT)))
    template = Template(messages, example=ExampleForm((BODY,)))
    state = predict_state(replace(PROMPT, template=template, definitions=(), notes=(), examples=()))
    assert state["signature"]["instructions"] == "Which team answers?"


def test_headings_of_fields_and_the_line_that_opens_the_answer_are_the_templates_own() -> None:
    pieces = (Part(0), "\n\n## Rules\n\nBe strict.\n\n## The mail\n\n**", SUBJECT, "**\n\n", BODY, "\n\nTeam:")
    template = Template((Message("user", pieces),), example=ExampleForm((BODY,)))
    state = predict_state(replace(PROMPT, template=template, definitions=(), notes=(), examples=()))
    assert state["signature"]["instructions"] == "Which team answers?\n\n## Rules\n\nBe strict."


def test_it_is_loaded_by_dspy_and_predicts(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps(predict_state(PROMPT)))
    fields: dict[str, Any] = {name: (str, dspy.InputField()) for name in ("subject", "mail_body")}
    fields["label"] = (Literal["billing", "sales"], dspy.OutputField())
    program = dspy.Predict(dspy.Signature(fields, "Sort it."))
    program.load(tmp_path / "state.json")
    assert program.signature.instructions.startswith("# Mail")
    with dspy.context(lm=minilm_lm(cache=False)):
        assert program(subject="Bill", mail_body="It is too high.").label in {"billing", "sales"}
