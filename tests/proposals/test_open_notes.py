"""Edits for answers that are no single label: notes that train bears out, examples, the task's definitions, drafts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from psopt.answers import AnswerType, code_of
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import Predictions, pooled
from psopt.proposals import propose_edits
from psopt.proposals.llm import LLMProposer
from psopt.search_spaces import Edit, Prompt
from psopt.tasks import Task, written_set

from tests import open_tasks
from tests.proposals.drafts import Writer

Said = dict[str, str | None]


def edits_where(
    rows: list[dict[str, Any]], spec: str, said: Callable[[Any, int], str | None], **options: Any
) -> list[Edit]:
    """The edits where every third sample is answered otherwise under the second of two wordings; None is N/A."""
    records = [{"text": row["text"], "label": row["answer"]} for row in rows]
    task = Task.from_records(records, answers=spec, **options)
    references = {row["text"]: row["answer"] for row in rows}
    told = {str(of.text): said(references[str(of.text)], n) for n, of in enumerate(task.train) if n % 3 == 0}
    return proposed(task, answered(task, told))


def answered(task: Task, said: Said) -> Predictions:
    """Right answers, but for what is said to some texts under the second wording."""
    array = []
    for sample in task.train:
        right = str(sample.label).partition('", "')[0].removeprefix('["') if task.spec.form == "text" else sample.label
        pair = (right, said.get(str(sample.text), right))
        array.append([len(task.labels) if answer is None else code_of(str(answer)) for answer in pair])
    wordings = ("Read it.", "What is asked for?")
    return Predictions(np.array(array), task.train, task.labels, answers=AnswerType.of(task), rephrasings=wordings)


def proposed(task: Task, predictions: Predictions) -> list[Edit]:
    prompt = Prompt(task.description, task.labels, asks=task.spec.form)
    return propose_edits(task, prompt, predictions, diagnose_predictions(predictions, labelled=task.train))


def notes(edits: list[Edit]) -> list[str]:
    return [edit.text for edit in edits if edit.kind == "note"]


SET_LABELS = ["account", "billing", "delivery", "quality"]


def test_numbers_that_can_not_be_read_ask_for_a_number_alone_and_right_ones_for_nothing() -> None:
    edits = edits_where(open_tasks.bills(), "number:0.01", lambda *_: None)
    (first, *_) = [edit for edit in edits if edit.kind == "note"]
    assert first.text.startswith("Write one number in digits and nothing else")
    assert first.gain == pytest.approx(1 / 6)  # of two answers to each sample one in six is N/A
    assert len(first.provenance.samples) == 12
    right = edits_where(open_tasks.bills(), "number", lambda right, _: str(open_tasks.amount_of(right)))
    assert not notes(right)


def test_objects_name_their_members() -> None:
    edits = edits_where(open_tasks.orders(), "text:json", lambda right, _: json.dumps({**right, "town": "?"}))
    assert 'Answer with one JSON object with exactly these members: "count", "what", "who".' in notes(edits)


def test_texts_are_copied_and_brief() -> None:
    edits = edits_where(open_tasks.notices(), "text:token-f1", lambda right, _: f"It is {right}, as far as I see.")
    assert any(note.startswith("Answer as briefly as possible: ") for note in notes(edits))
    assert "Copy the answer from the text word for word." in notes(edits)


def test_sets_with_too_few_or_too_many_labels() -> None:
    few = edits_where(open_tasks.complaints(), "labels", lambda right, _: written_set(right[:-1], SET_LABELS))
    assert any(note.startswith("Several labels may apply") for note in notes(few))
    many = edits_where(open_tasks.complaints(), "labels", lambda *_: written_set(SET_LABELS, SET_LABELS))
    assert any(note.startswith("Name a label only if") for note in notes(many))
    assert "If no label applies, answer with an empty list: []." in notes(many)


def test_definitions_of_the_task_are_offered_for_labels_of_sets() -> None:
    told = {"billing": "money that was taken wrongly", "account": "signing in"}
    edits = edits_where(open_tasks.complaints(), "labels", lambda *_: "[]", definitions=told)
    assert {edit.label for edit in edits if edit.kind == "definition"} == set(told)


THINGS = (
    "apple bucket candle diver engine feather garden hammer island jacket kettle ladder magnet needle orange pencil"
)
THINGS += " quilt rocket saddle tunnel umbrella violin window yoghurt zebra anchor basket cactus dragon eagle"


def test_examples_stand_by_themselves_and_are_none_of_val_or_test() -> None:
    rows = [
        {"text": f"how many {word}s fit into a {word} crate ?", "answer": n} for n, word in enumerate(THINGS.split())
    ]
    edits = [edit for edit in edits_where(rows, "number", lambda *_: "99") if edit.kind == "example"]
    assert len(edits) == len({edit.bundle for edit in edits}) > 1
    assert {edit.label for edit in edits} <= {str(n) for n in range(30)}


# Topics: every sixth text tells a price.
_NAMES = ("baker", "school", "club", "museum", "farmer", "harbour", "uncle", "garage")
_GOODS = ("lamps", "chairs", "apples", "boats", "bricks", "clocks", "ropes", "drums", "tents", "kites", "spoons")
_SAID = [f"the {_NAMES[n % 8]} has {n + 1} {_GOODS[n % 11]} in shed {n % 7}" for n in range(120)]
SHEDS = Task.from_records(
    [(f"{said} at one price" if n % 6 == 0 else said, n) for n, said in enumerate(_SAID)], answers="number"
)
PRICED = [sample for sample in SHEDS.train if "price" in sample.text]
WRONG_ON_PRICES = answered(SHEDS, {str(sample.text): f"1{sample.label}" for sample in PRICED})


def drafted(predictions: Predictions) -> tuple[list[Edit], list[str]]:
    """What a model drafts, and what it was asked."""
    writer: Any = Writer(lambda _: json.dumps({"note": "Where money is spoken of, count the goods."}))
    prompt = Prompt(SHEDS.description, SHEDS.labels, asks="number")
    return LLMProposer(writer).propose(SHEDS, prompt, predictions, diagnose_predictions(predictions)), writer.asked


def test_with_several_models_the_worst_wordings_are_told_too() -> None:
    """There are as many columns of answers as models times wordings."""
    _, asked = drafted(pooled(replace(WRONG_ON_PRICES, others=(WRONG_ON_PRICES,))))
    assert all("worded like this:\n- What is asked for?" in request for request in asked)


def test_a_model_is_told_the_topic_and_what_was_answered() -> None:
    edits, asked = drafted(WRONG_ON_PRICES)
    request = next(request for request in asked if '"price"' in request)
    weak = PRICED[0]
    seen = json.dumps({"text": weak.text, "right": weak.label, "answered": {weak.label: 1, f"1{weak.label}": 1}})
    assert seen in request
    (note,) = edits
    assert (note.provenance.topic, note.provenance.author) == ('"price"', "test/writer")
    assert set(note.provenance.samples) <= {sample.id for sample in PRICED}
