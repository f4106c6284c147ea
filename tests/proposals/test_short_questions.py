"""Notes on short questions: an opening is a sign of a class as long as little follows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import Predictions
from psopt.proposals import PhraseEvidence, propose_edits
from psopt.proposals.rules._short_questions import notes_on_short_questions, short_questions
from psopt.search_spaces import seed_prompt
from psopt.tasks import Row, Sample

if TYPE_CHECKING:
    from psopt.tasks import Task

THINGS = ["annuity", "biosphere", "comet", "dynamo", "enzyme", "fjord", "glacier", "hormone", "isotope", "jukebox"]
MEANINGS = [f"What is an {thing} ?" for thing in THINGS]
PLACES = [f"What is the largest {thing} of all the states here ?" for thing in THINGS]


def task_of(task: Task, texts: dict[str, list[str]]) -> Task:
    train = [Sample(f"{label}{number}", text, label) for label in texts for number, text in enumerate(texts[label])]
    return replace(task, labels=tuple(texts), train=tuple(train), val=(), test=(), definitions={}, noun="question")


def answered(task: Task, label: str) -> Predictions:
    """Every question of train answered with one label, under each of three wordings."""
    return Predictions(np.full((len(task.train), 3), task.labels.index(label)), task.train, task.labels)


@pytest.fixture
def questions(task: Task) -> Task:
    return task_of(task, {"Meaning": MEANINGS, "Place": PLACES})


def test_what_a_short_question_asks_for_is_told_with_its_length(questions: Task) -> None:
    (note,) = notes_on_short_questions(questions, answered(questions, "Place"), PhraseEvidence.of(questions))
    assert note.text == 'A question that begins with "what is" and has at most four words belongs to Meaning.'
    assert (note.kind, note.label, note.gain) == ("note", "Meaning", 0.5)
    assert note.provenance.samples == tuple(f"Meaning{number}" for number in range(len(THINGS)))
    assert note.provenance.topic == 'begins with "what is" and has at most four words'


def test_it_is_among_what_is_proposed(questions: Task) -> None:
    predictions = answered(questions, "Place")
    edits = propose_edits(questions, seed_prompt(questions), predictions, diagnose_predictions(predictions))
    assert any("at most four words" in edit.text for edit in edits)


def test_where_short_questions_are_right_no_note_is_written(questions: Task) -> None:
    right = replace(answered(questions, "Place"), array=np.repeat(answered(questions, "Place").truth[:, None], 3, 1))
    assert notes_on_short_questions(questions, right, PhraseEvidence.of(questions)) == []


@pytest.mark.parametrize(
    "texts",
    [
        {"Meaning": MEANINGS[:2], "Place": PLACES},  # too few
        {"Meaning": MEANINGS[::2], "Place": [*PLACES, *MEANINGS[1::2]]},  # of both classes
        {"Meaning": [*MEANINGS, *PLACES], "Place": ["How far is it ?"] * 3},  # of one class, however long
        {"Meaning": [text[len("What ") :] for text in MEANINGS], "Place": PLACES},  # begins with no question word
    ],
)
def test_nothing_is_a_sign_without_evidence(task: Task, texts: dict[str, list[str]]) -> None:
    assert short_questions(PhraseEvidence.of(task_of(task, texts))) == []


def test_rows_of_several_inputs_have_no_opening(questions: Task) -> None:
    def row(sample: Any) -> Sample:
        return replace(sample, text=Row.of({"subject": sample.text, "body": "-"}, ("subject", "body")))

    rows = replace(questions, train=tuple(map(row, questions.train)))
    assert short_questions(PhraseEvidence.of(rows)) == []
