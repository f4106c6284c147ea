from __future__ import annotations

from dataclasses import replace

import pytest
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import Predictions, evaluate
from psopt.proposals import examples_from_train, note_text, propose_edits
from psopt.search_spaces import Edit, apply_edits, seed_prompt
from psopt.tasks import Task

from tests.conftest import KeywordModel

REPHRASINGS = ["odd", "even", "odd again", "even too"]


@pytest.fixture(scope="module")
def on_train(task: Task) -> Predictions:
    return evaluate(KeywordModel(), seed_prompt(task), REPHRASINGS, task.train)


@pytest.fixture(scope="module")
def edits(task: Task, on_train: Predictions) -> list[Edit]:
    return propose_edits(task, seed_prompt(task), on_train, diagnose_predictions(on_train))


def of_kind(edits: list[Edit], kind: str) -> list[Edit]:
    return [edit for edit in edits if edit.kind == kind]


def test_notes_send_the_shaking_questions_where_they_belong_and_mend_the_keyword_model(
    task: Task, on_train: Predictions, edits: list[Edit]
) -> None:
    notes = of_kind(edits, "note")
    for words, label in (("when", "Number"), ("whose", "Person")):
        assert any(f'"{words}' in note.text and note.text.endswith(f"usually belongs to {label}.") for note in notes)
    fixed = evaluate(KeywordModel(), apply_edits(seed_prompt(task), notes), REPHRASINGS, task.val)
    assert (on_train.array == on_train.truth[:, None]).mean() == 0.75
    assert (fixed.array == fixed.truth[:, None]).mean() == 1.0


def test_every_edit_names_train_samples_only_and_those_with_most_to_gain_come_first(
    task: Task, edits: list[Edit]
) -> None:
    train = {sample.id for sample in task.train}
    for edit in edits:
        assert edit.provenance.samples
        assert set(edit.provenance.samples) <= train
    gains = [edit.gain for edit in edits]
    assert gains == sorted(gains, reverse=True)


def test_what_a_prompt_holds_is_not_proposed_again(task: Task, on_train: Predictions, edits: list[Edit]) -> None:
    full = apply_edits(seed_prompt(task), edits)
    again = propose_edits(task, full, on_train, diagnose_predictions(on_train))
    assert {edit.kind for edit in again} <= {"example"}
    assert {edit.id for edit in again}.isdisjoint(edit.id for edit in edits)


def test_definitions_are_the_task_s_own_and_never_lists_of_words(task: Task, edits: list[Edit]) -> None:
    definitions = {(edit.provenance.author, edit.label, edit.text) for edit in of_kind(edits, "definition")}
    assert definitions == {("task", label, text) for label, text in task.definitions.items()}


def test_a_note_bears_how_often_train_says_so_and_otherwise(task: Task, edits: list[Edit]) -> None:
    note = next(edit for edit in of_kind(edits, "note") if '"when' in edit.text)
    of_label = [sample for sample in task.train if sample.text.startswith("when")]
    assert note.provenance.support == sum(sample.label == "Number" for sample in of_label)
    assert set(note.provenance.counter) == {sample.id for sample in of_label if sample.label != "Number"}
    kept = note.to_dict()
    assert Edit.from_dict(kept) == note
    assert "counter" in kept["provenance"] or not note.provenance.counter


def test_examples_come_in_layers_of_one_for_each_label(task: Task, edits: list[Edit]) -> None:
    examples = of_kind(edits, "example")
    texts = {sample.text: sample.label for sample in task.train}
    assert all(texts[edit.text] == edit.label for edit in examples)
    assert len({edit.text for edit in examples}) == len(examples)
    layers = {edit.bundle: [one.label for one in examples if one.bundle == edit.bundle] for edit in examples}
    assert [sorted(labels) for labels in layers.values()].count(sorted(task.labels)) >= 3
    assert {edit.provenance.topic for edit in examples} == {"typical", "weak spot"}  # no answer is right by a majority


def test_beyond_the_first_layer_examples_stay_below_a_number_of_characters(on_train: Predictions) -> None:
    first, second = (examples_from_train(on_train, ("typical",) * n) for n in (1, 2))
    n_characters = sum(len(edit.text) for edit in second)
    assert len(second) > len(first)
    for most, expected in ((n_characters, second), (n_characters - 1, first), (1, first)):
        assert examples_from_train(on_train, ("typical",) * 2, most_characters=most) == expected
    assert examples_from_train(on_train, taken={"x" * 50}, most_characters=40) == []


def test_borderline_examples_are_right_by_a_small_majority(task: Task, on_train: Predictions) -> None:
    answers = on_train.array.copy()
    answers[0] = [on_train.truth[0]] * 3 + [1 - on_train.truth[0]]
    (only,) = examples_from_train(replace(on_train, array=answers), ["borderline"])
    assert only.text == task.train[0].text


def test_notes_read_as_sentences() -> None:
    text = note_text("email", ["^a", "^b", "c", "d", "e"], "X")
    assert text == 'An email that begins with "a" or "b" or contains "c", "d" or "e" usually belongs to X.'
