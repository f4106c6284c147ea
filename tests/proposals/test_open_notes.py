"""Edits for answers that are no single label: notes that train bears out, examples, and the task's definitions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.answers import AnswerType, code_of
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import Predictions
from psopt.proposals import propose_edits
from psopt.proposals.llm import DraftChecks
from psopt.search_spaces import Prompt
from psopt.tasks import Task, written_set

from tests import open_tasks

if TYPE_CHECKING:
    from collections.abc import Callable


def proposed(
    rows: list[dict[str, Any]], spec: str, said: Callable[[Any, int], str | None], **options: Any
) -> list[Any]:
    """The edits where every third sample is answered otherwise under the second of two wordings; None is N/A."""
    records = [{"text": row["text"], "label": row["answer"]} for row in rows]
    task = Task.from_records(records, answers=spec, **options)
    references = {row["text"]: row["answer"] for row in rows}
    array = []
    for number, sample in enumerate(task.train):
        right = str(sample.label).partition('", "')[0].removeprefix('["') if spec == "text" else sample.label
        other = said(references[str(sample.text)], number) if number % 3 == 0 else right
        array.append([len(task.labels) if answer is None else code_of(str(answer)) for answer in (right, other)])
    predictions = Predictions(np.array(array), task.train, task.labels, answers=AnswerType.of(task))
    prompt = Prompt(task.description, task.labels, asks=task.spec.form)
    return propose_edits(task, prompt, predictions, diagnose_predictions(predictions, labelled=task.train))


def notes(edits: list[Any]) -> list[str]:
    return [edit.text for edit in edits if edit.kind == "note"]


def test_numbers_that_can_not_be_read_ask_for_a_number_alone() -> None:
    edits = proposed(open_tasks.bills(), "number:0.01", lambda *_: None)
    assert notes(edits)[0].startswith("Write one number in digits and nothing else")
    (first, *_) = [edit for edit in edits if edit.kind == "note"]
    assert first.gain == pytest.approx(1 / 6)  # of two answers to each sample one in six is N/A
    assert len(first.provenance.samples) == 12


def test_texts_that_say_more_ask_for_fewer_words() -> None:
    rows = [row for row in open_tasks.notices() if isinstance(row["answer"], str)]
    (brief,) = [
        note
        for note in notes(proposed(rows, "text", lambda right, _: f"It is in {right}, I think."))
        if "briefly" in note
    ]
    assert brief == "Answer as briefly as possible: one word at most, never a sentence."


def test_extracts_ask_to_be_copied() -> None:
    rows = [row for row in open_tasks.notices() if isinstance(row["answer"], str)]
    assert "Copy the answer from the text word for word." in notes(proposed(rows, "text", lambda *_: "Lyon"))
    asked = [{"text": f"What is the capital of country {n}?", "answer": f"City {n}x"} for n in range(60)]
    assert not any("Copy" in note for note in notes(proposed(asked, "text", lambda *_: "Lyon")))


def test_objects_name_their_members() -> None:
    edits = proposed(open_tasks.orders(), "text:json", lambda right, _: json.dumps({**right, "town": "?"}))
    assert 'Answer with one JSON object with exactly these members: "count", "what", "who".' in notes(edits)


def test_sets_with_too_few_or_too_many_labels() -> None:
    labels = ["account", "billing", "delivery", "quality"]
    few = proposed(open_tasks.complaints(), "labels", lambda right, _: written_set(right[:-1], labels))
    assert any(note.startswith("Often several labels apply") for note in notes(few))
    many = proposed(open_tasks.complaints(), "labels", lambda *_: written_set(labels, labels))
    assert any(note.startswith("Name a label only if") for note in notes(many))
    assert "If no label applies, answer with an empty list: []." in notes(many)


def test_definitions_of_the_task_are_offered_for_labels_of_sets() -> None:
    told = {"billing": "money that was taken wrongly", "account": "signing in"}
    edits = proposed(open_tasks.complaints(), "labels", lambda *_: "[]", definitions=told)
    assert {edit.label for edit in edits if edit.kind == "definition"} == set(told)


def test_a_draft_may_quote_what_speaks_for_one_of_several_labels() -> None:
    records = [{"text": row["text"], "label": row["answer"]} for row in open_tasks.complaints()]
    checks = DraftChecks.of(Task.from_records(records, answers="labels"))
    note = 'A text that contains "charged twice" belongs to billing.'
    assert checks.read(json.dumps({"note": note}), "note", "", []) == note


def test_examples_stand_by_themselves_and_are_none_of_val_or_test() -> None:
    rows = [{"text": f"how many {word}s fit into a {word} crate ?", "answer": n} for n, word in enumerate(WORDS)]
    edits = [edit for edit in proposed(rows, "number", lambda *_: "99") if edit.kind == "example"]
    assert len(edits) == len({edit.bundle for edit in edits}) > 1
    assert {edit.label for edit in edits} <= {str(n) for n in range(len(WORDS))}


WORDS = [
    "apple",
    "bucket",
    "candle",
    "diver",
    "engine",
    "feather",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "magnet",
    "needle",
    "orange",
    "pencil",
    "quilt",
    "rocket",
    "saddle",
    "tunnel",
    "umbrella",
    "violin",
    "window",
    "yoghurt",
    "zebra",
    "anchor",
    "basket",
    "cactus",
    "dragon",
    "eagle",
]


def test_nothing_is_proposed_where_nothing_fails() -> None:
    edits = proposed(open_tasks.bills(), "number", lambda right, _: str(open_tasks.amount_of(right)))
    assert not notes(edits)
