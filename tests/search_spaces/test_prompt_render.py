"""`Prompt.render`: what a model is sent for one row, as messages."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from psopt.errors import DataError
from psopt.runs import read_source
from psopt.search_spaces import Example, Prompt, render
from psopt.tasks import Sample, Task

OWN = Prompt("Judge the review.", ("good", "bad"), noun="review")


def templated() -> Prompt:
    rows: list[dict[str, Any]] = [
        {"subject": f"s{n}", "body": f"b{n}", "label": ("billing", "sales")[n % 2]} for n in range(12)
    ]
    task = Task.from_records(rows, inputs=("subject", "body"))
    return read_source("Sort the mail.\nSubject: {subject}\nBody: {body}\nLabel:").for_task(task)


@pytest.mark.parametrize("row", ["I loved it", {"text": "I loved it"}, {"text": "I loved it", "stars": 5}])
def test_a_text_and_a_row_with_a_text_are_the_same(row: Any) -> None:
    assert OWN.render(row) == render(OWN, "I loved it")


def test_examples_are_turns_asked_and_answered_as_the_text_is() -> None:
    prompt = replace(OWN, notes=("Dull is bad.",), examples=(Example("So {dull}", "bad"), Example("Fine", "good")))
    system, *turns = render(prompt, "I loved it")
    assert system == render(OWN, "I loved it")[0]
    assert [(turn["role"], turn["content"]) for turn in turns] == [
        (
            "user",
            "Judge the review.\nAnswer with exactly one of these labels and nothing else: good, bad\n\n"
            "Note:\n- Dull is bad.\n\nReview: So {dull}\nLabel:",
        ),
        ("assistant", "bad"),
        ("user", "Review: Fine\nLabel:"),
        ("assistant", "good"),
        ("user", "Review: I loved it\nLabel:"),
    ]


def test_a_sample_of_a_task_is_rendered_as_a_search_sends_it() -> None:
    assert OWN.render(Sample("1", "I loved it", "good")) == render(OWN, "I loved it")


def test_columns_that_the_prompt_names_are_filled_in() -> None:
    (message,) = templated().render({"subject": "Bill", "body": "Too {high}", "label": "billing"})
    assert message["role"] == "user"
    assert "Subject: Bill\nBody: Too {high}" in message["content"]
    assert "billing" not in message["content"]


def test_inputs_name_the_columns_of_a_row_without_a_text() -> None:
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


def test_a_prompt_stays_one_frozen_value() -> None:
    assert repr(OWN) == f"<Prompt {OWN.id}: 'Judge the review.'; 2 labels>"
    assert pickle.loads(pickle.dumps(OWN)) == OWN
    assert Prompt.from_dict(OWN.to_dict()) == OWN
