import pytest
from psopt.diagnosis import diagnose_predictions
from psopt.evaluation import evaluate
from psopt.prompts import apply_edits, seed_prompt
from psopt.proposals import note_text, propose_edits

REPHRASINGS = ["odd", "even", "odd again", "even too"]


@pytest.fixture
def on_train(task, keyword_model):
    return evaluate(keyword_model, seed_prompt(task), REPHRASINGS, task.train)


def propose(task, predictions, prompt=None):
    return propose_edits(task, prompt or seed_prompt(task), predictions, diagnose_predictions(predictions))


def test_notes_send_the_shaking_questions_where_they_belong(task, on_train):
    notes = [edit for edit in propose(task, on_train) if edit.kind == "note"]
    assert any('"when' in note.text and note.text.endswith("belongs to Number.") for note in notes)
    assert any('"whose' in note.text and note.text.endswith("belongs to Person.") for note in notes)


def test_applying_the_notes_mends_the_keyword_model(task, on_train, keyword_model):
    notes = [edit for edit in propose(task, on_train) if edit.kind == "note"]
    mended = evaluate(keyword_model, apply_edits(seed_prompt(task), notes), REPHRASINGS, task.val)
    assert (on_train.array == on_train.truth[:, None]).mean() == 0.75
    assert (mended.array == mended.truth[:, None]).mean() == 1.0


def test_every_edit_names_train_samples_only(task, on_train):
    train = {sample.id for sample in task.train}
    for edit in propose(task, on_train):
        assert edit.provenance.samples
        assert set(edit.provenance.samples) <= train


def test_what_a_prompt_holds_is_not_proposed_again(task, on_train):
    edits = propose(task, on_train)
    full = apply_edits(seed_prompt(task), edits)
    assert propose(task, on_train, full) == []


def test_definitions_are_the_task_s_own_and_wordings_that_train_shows(task, on_train):
    definitions = [edit for edit in propose(task, on_train) if edit.kind == "definition"]
    assert {(edit.provenance.author, edit.label) for edit in definitions} == {
        (author, label) for author in ("task", "rules") for label in task.labels
    }
    wordings = next(edit.text for edit in definitions if edit.provenance.author == "rules" and edit.label == "Number")
    assert "when" in wordings
    assert "how many" in wordings


def test_examples_hold_a_typical_and_a_weak_one_of_each_label(task, on_train):
    examples = [edit for edit in propose(task, on_train) if edit.kind == "example"]
    assert {(edit.label, edit.provenance.topic) for edit in examples} == {
        (label, topic) for label in task.labels for topic in ("typical", "weak spot")
    }
    texts = {sample.text: sample.label for sample in task.train}
    assert all(texts[edit.text] == edit.label for edit in examples)


def test_edits_with_most_to_gain_come_first(task, on_train):
    gains = [edit.gain for edit in propose(task, on_train)]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize(
    ("noun", "phrases", "text"),
    [
        ("question", ["^when"], 'A question that begins with "when" belongs to X.'),
        (
            "email",
            ["refund", "charge back"],
            'An email that contains "refund" or "charge back" belongs to X.',
        ),
        ("text", ["^a", "^b", "c"], 'A text that begins with "a" or "b" or contains "c" belongs to X.'),
        ("text", ["a", "b", "c"], 'A text that contains "a", "b" or "c" belongs to X.'),
    ],
)
def test_notes_read_as_sentences(noun, phrases, text):
    assert note_text(noun, phrases, "X") == text
