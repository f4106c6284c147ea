"""What the topics of weak samples lead to where answers are no single labels: examples, notes on forms, drafts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.answers import AnswerType, code_of
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import Predictions
from psopt.proposals import propose_edits
from psopt.proposals.llm import LLMProposer
from psopt.search_spaces import Prompt
from psopt.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psopt.search_spaces import Edit, Messages

WORDINGS = ["Read the number.", "Which number is asked for?"]
_NAMES = ("baker", "school", "club", "museum", "farmer", "harbour", "uncle", "garage")
_GOODS = ("lamps", "chairs", "apples", "boats", "bricks", "clocks", "ropes", "drums", "tents", "kites", "spoons")


def rows() -> list[dict[str, Any]]:
    """Every sixth text tells a price."""
    texts = [f"the {_NAMES[n % 8]} has {n + 1} {_GOODS[n % 11]} in shed {n % 7}" for n in range(120)]
    return [{"text": f"{text}{' at one price' if n % 6 == 0 else ''}", "answer": n} for n, text in enumerate(texts)]


def told(text: str) -> bool:
    return "price" in text


def asked(said: Callable[[str], str | None], is_weak: Callable[[str], bool] = told) -> tuple[Task, Predictions]:
    """Weak samples are answered otherwise under the second wording; None is N/A."""
    records = [{"text": row["text"], "label": row["answer"]} for row in rows()]
    task = Task.from_records(records, answers="number")
    array = []
    for sample in task.train:
        other = said(str(sample.label)) if is_weak(str(sample.text)) else str(sample.label)
        array.append([code_of(str(sample.label)), 0 if other is None else code_of(other)])
    return task, Predictions(np.array(array), task.train, task.labels, answers=AnswerType.of(task))


def proposed(task: Task, predictions: Predictions) -> list[Edit]:
    prompt = Prompt(task.description, task.labels, asks="number")
    return propose_edits(task, prompt, predictions, diagnose_predictions(predictions))


def of_topic(edits: Sequence[Edit], kind: str) -> list[Edit]:
    return [edit for edit in edits if edit.kind == kind and edit.provenance.topic == '"price"']


def test_a_topic_is_offered_as_two_examples_that_are_switched_on_together() -> None:
    task, predictions = asked(lambda right: f"1{right}")
    edits = proposed(task, predictions)
    shown = of_topic(edits, "example")
    assert len(shown) == 2
    assert len({edit.bundle for edit in shown}) == 1
    assert all(told(edit.text) for edit in shown)
    right = {str(sample.text): sample.label for sample in task.train}
    assert all(edit.label == right[edit.text] for edit in shown)
    assert len({edit.id for edit in edits}) == len(edits)
    assert sum(edit.kind == "example" for edit in edits) <= 8  # two of a topic, and the six that there are without one


def test_weakness_without_a_topic_leads_to_none() -> None:
    rng = np.random.default_rng(0)
    chosen = {row["text"] for row in rows() if rng.random() < 0.15}
    edits = proposed(*asked(lambda right: f"1{right}", chosen.__contains__))
    assert {edit.provenance.topic for edit in edits} <= {"form of the answer", "typical", "borderline", "weak spot"}


def test_an_error_of_form_of_one_topic_alone_makes_a_note_on_it() -> None:
    task, predictions = asked(lambda _: None)
    (note,) = of_topic(proposed(task, predictions), "note")
    expected = 'For a text that contains "price": write one number in digits and nothing else: no words, no unit, no '
    assert note.text.startswith(expected)
    n_told = sum(told(str(sample.text)) for sample in task.train)
    assert note.gain == n_told / len(task.train) / 2  # one of two answers to each of them is N/A
    assert len(note.provenance.samples) == n_told


def test_an_error_of_form_that_is_made_elsewhere_too_makes_none() -> None:
    task, predictions = asked(lambda _: None, lambda text: told(text) or " in shed 3" in text)
    edits = proposed(task, predictions)
    assert of_topic(edits, "example")
    assert not [edit for edit in edits if edit.text.startswith("For a text")]


def test_an_error_that_is_none_of_form_makes_no_note_on_its_topic() -> None:
    assert not of_topic(proposed(*asked(lambda right: f"1{right}")), "note")


def test_a_model_is_told_the_topic_and_what_was_answered() -> None:
    task, predictions = asked(lambda right: f"1{right}")
    writer = Notebook()
    prompt = Prompt(task.description, task.labels, asks="number")
    diagnosis = diagnose_predictions(predictions)
    edits = LLMProposer(writer).propose(task, prompt, predictions, diagnosis, WORDINGS)  # type: ignore[arg-type]
    request = next(messages[-1]["content"] for messages in writer.asked if '"price"' in messages[-1]["content"])
    weak = next(sample for sample in task.train if told(str(sample.text)))
    seen = json.dumps({"text": weak.text, "right": weak.label, "answered": {weak.label: 1, f"1{weak.label}": 1}})
    assert seen in request
    (note,) = edits
    assert note.provenance.topic == '"price"'
    assert note.provenance.author == "notebook"
    assert set(note.provenance.samples) <= {sample.id for sample in task.train if told(str(sample.text))}


def test_requests_for_topics_stay_within_what_a_round_may_cost() -> None:
    task, predictions = asked(lambda right: f"1{right}")
    diagnosis = diagnose_predictions(predictions)
    writer = Notebook()
    prompt = Prompt(task.description, task.labels, asks="number")
    proposer = LLMProposer(writer, most_slices=2)  # type: ignore[arg-type]
    proposer.propose(task, prompt, predictions, diagnosis, WORDINGS)
    assert sum("can't be used" not in messages[-1]["content"] for messages in writer.asked) == 2


class Notebook:
    """Drafts the same note to whatever it is asked, and keeps what it was asked."""

    name = "notebook"

    def __init__(self) -> None:
        self.asked: list[Messages] = []

    def write(self, conversations: Sequence[Messages], **_: object) -> list[str]:
        """One draft for each."""
        self.asked += conversations
        return [json.dumps({"note": "Where money is spoken of, count the goods."}) for _ in conversations]
