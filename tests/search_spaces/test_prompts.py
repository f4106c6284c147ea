"""Prompts as values; what a model is sent of them for a row; and how they are shown, fields open, additions marked."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from psopt.errors import DataError, InputError, UnknownNameError
from psopt.runs import read_source
from psopt.search_spaces import (
    Definition,
    Edit,
    Example,
    Prompt,
    Provenance,
    apply_edits,
    render,
    render_fixed,
    render_instructions,
    render_shown,
    seed_prompt,
)
from psopt.tasks import Sample, Task
from psopt.templates import ExampleForm, Field, Message, Part, Slot, Template

from tests.sweeps import each

OWN = Prompt("Judge the review.", ("good", "bad"), noun="review")


def edit(kind: Any, label: str, text: str, gain: float = 0.0) -> Edit:
    return Edit(kind, label, text, Provenance("rules", "sensitivity", "dates", ("train-1",)), gain)


EDITS = [edit("note", "good", "N."), edit("example", "bad", "Dull"), edit("definition", "good", "d")]


def test_a_prompt_and_its_edits_are_values_that_survive_json() -> None:
    full = apply_edits(OWN, EDITS)
    assert apply_edits(full, EDITS) == full  # again they change nothing more
    for prompt in (OWN, full, EDITED):
        assert Prompt.from_dict(prompt.to_dict()) == pickle.loads(pickle.dumps(prompt)) == prompt
    assert repr(OWN) == f"<Prompt {OWN.id}: 'Judge the review.'; 2 labels>"
    assert OWN.id == Prompt("Judge the review.", ("good", "bad"), "review").id != OWN.described_as("Judge it.").id
    one = edit("note", "good", "N.", gain=0.25)
    assert Edit.from_dict(one.to_dict()) == one
    assert replace(one, gain=0.5).id == one.id  # its gain is no part of its name


@each(
    "data, message",
    [
        ({"description": "d"}, "needs 'labels'"),
        ({"description": "d", "labels": ["a"], "colour": 1}, "no part 'colour'"),
        ({"description": "d", "labels": ["a"], "examples": [{"text": "t"}]}, "can't be built"),
    ],
)
def test_data_that_are_no_prompt_are_refused_with_the_part_named(data: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Prompt.from_dict(data)


def test_definitions_of_one_label_are_joined_in_label_order_whatever_the_order_of_edits() -> None:
    edits = [edit("definition", label, text) for label, text in (("bad", "p"), ("good", "a date"), ("good", "a sum"))]
    definitions = apply_edits(OWN, edits).definitions
    assert [(one.label, one.text) for one in definitions] == [("good", "a date; a sum"), ("bad", "p")]


def test_a_prompt_to_start_from_is_made_of_the_task(task: Task) -> None:
    assert seed_prompt(task) == Prompt(task.description, task.labels, "question")
    assert [one.label for one in seed_prompt(task, "detail").definitions] == list(task.labels)
    with pytest.raises(InputError, match=r"definition of every class.*'Number'.*task file"):
        seed_prompt(replace(task, definitions={}), "detail")
    with pytest.raises(UnknownNameError, match="did you mean 'simple'"):
        seed_prompt(task, "simpel")
    examples = [seed_prompt(task, "1-shot", seed=seed).examples for seed in (0, 0, 1)]
    assert examples[0] == examples[1] != examples[2]
    assert [one.label for one in examples[0]] == list(task.labels)
    assert set(examples[0]) <= {Example(sample.text, str(sample.label)) for sample in task.train}


def templated() -> Prompt:
    rows = [{"subject": f"s{n}", "body": f"b{n}", "label": ("billing", "sales")[n % 2]} for n in range(12)]
    task = Task.from_records(rows, inputs=("subject", "body"))
    return read_source("Sort the mail.\nSubject: {subject}\nBody: {body}\nLabel:").for_task(task)


def test_a_text_a_row_with_a_text_and_a_sample_are_rendered_the_same() -> None:
    text = "I loved {it} or {0} % $x"
    rows: list[Any] = [text, {"text": text}, {"text": text, "stars": 5}, Sample("1", text, "good")]
    for row in rows:
        assert OWN.render(row) == render(OWN, text)
    assert render(OWN, text)[-1]["content"].endswith(f"Review: {text}\nLabel:")  # last, braces as they are


def test_examples_are_turns_asked_and_answered_as_the_text_is() -> None:
    prompt = replace(OWN, notes=("Dull is bad.",), examples=(Example("So {dull}", "bad"), Example("Fine", "good")))
    system, first, *turns = render(prompt, "I loved it")
    assert system == render(OWN, "I loved it")[0]
    assert first == {
        "role": "user",
        "content": "Judge the review.\nAnswer with exactly one of these labels and nothing else: good, bad\n\n"
        "Note:\n- Dull is bad.\n\nReview: So {dull}\nLabel:",
    }
    assert [(turn["role"], turn["content"]) for turn in turns] == [
        ("assistant", "bad"),
        ("user", "Review: Fine\nLabel:"),
        ("assistant", "good"),
        ("user", "Review: I loved it\nLabel:"),
    ]


def test_columns_that_the_prompt_or_the_inputs_name_are_filled_in() -> None:
    (message,) = templated().render({"subject": "Bill", "body": "Too {high}", "label": "billing"})
    assert message["role"] == "user"
    assert "Subject: Bill\nBody: Too {high}" in message["content"]
    assert "billing" not in message["content"]
    messages = OWN.render({"title": "Fine", "review": "I loved it"}, inputs=("title", "review"))
    assert "Review: title: Fine\nreview: I loved it\n" in messages[1]["content"]
    assert OWN.render({"a": "x", "b": "y"}, inputs="b") == render(OWN, "y")


def test_what_is_missing_is_named_in_a_line() -> None:
    with pytest.raises(DataError, match="has no column 'body', which the prompt names; it has") as caught:
        templated().render({"subject": "Bill"})
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="give a mapping"):
        templated().render("a text alone")
    with pytest.raises(DataError):
        OWN.render({"a": "x", "b": "y"})
    with pytest.raises(DataError, match="expected a text or a mapping, not 3"):
        OWN.render(3)  # type: ignore[arg-type]


BODY = Field("body", "{{ body }}")
NOTES = Slot("notes", opening="\n\nNotes:\n")
TEMPLATE = Template(
    (Message("system", ("# Mail\n\n", Part(0), NOTES, "\n\nEnd.")), Message("user", ("Mail: ", BODY, "\nTeam:"))),
    example=ExampleForm(("Mail: ", BODY, "\nTeam:"), turns=True),
)
PLAIN = Prompt("Which team answers?", ("billing", "sales"), template=TEMPLATE)
EXAMPLE = Example("Too high", "billing", fields=(("body", "Too high"),))
EDITED = replace(PLAIN, notes=("Bills go to billing.",), examples=(EXAMPLE,))


def test_fields_are_shown_as_they_were_spelled_and_roles_above_their_messages() -> None:
    shown = "[system]\n# Mail\n\nWhich team answers?\n\nEnd.\n\n[user]\nMail: {{ body }}\nTeam:"
    assert render_instructions(PLAIN) == render_shown(PLAIN, marked=True) == shown
    alone = replace(PLAIN, template=replace(TEMPLATE, messages=(Message("user", (Part(0), " ", BODY)),)))
    assert render_shown(alone) == "Which team answers? {{ body }}"  # one message needs no role above it


def test_what_was_added_stands_behind_a_plus_and_turns_are_marked_whole() -> None:
    shown = render_shown(EDITED, marked=True).split("\n")
    added = [line[2:] for line in shown if line.startswith("+ ")]
    assert added == ["Notes:", "- Bills go to billing.", "[user]", "Mail: Too high", "Team:", "[assistant]", "billing"]
    kept = [line[2:] for line in shown if line.startswith("  ")]
    assert kept == [line for line in render_shown(PLAIN).split("\n") if line]


def test_its_length_is_what_every_request_holds() -> None:
    assert render_fixed(PLAIN) == "# Mail\n\nWhich team answers?\n\nEnd.\nMail: \nTeam:"
    own = replace(PLAIN, template=None, definitions=(Definition("sales", "offers"),))
    assert render_fixed(own) == render_instructions(own)
