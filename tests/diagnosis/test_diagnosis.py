"""Which samples need help most, what they share, and what speaks for a group."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from psopt.diagnosis import Diagnosis, PromptReport, diagnose_predictions, find_slices, severity
from psopt.evaluation import Predictions, evaluate
from psopt.search_spaces import Prompt, seed_prompt
from psopt.tasks import Row, Sample, Task

from tests.sweeps import each

REPHRASINGS = ["odd", "even", "odd again", "even too"]  # lengths 3, 4, 9, 8: the keyword model answers 1, 0, 1, 0
SHAKES = np.arange(40) % 4 % 3 == 0  # "when" and "whose"; the others never change


@pytest.fixture
def predictions(task: Task, keyword_model: Any) -> Any:
    return evaluate(keyword_model, seed_prompt(task), REPHRASINGS, task.train)


def without_labels(predictions: Predictions) -> Predictions:
    samples = tuple(dataclasses.replace(sample, label=None) for sample in predictions.samples)
    return dataclasses.replace(predictions, samples=samples)


@each(
    "view, expected",
    [
        ("sensitivity", np.log(2) / np.log(3)),  # the entropy of the answers: two of each of two of three classes
        # The mean distance from the class where answers change; of Number 10 samples are at (1/2, 1/2) and 10 at
        # (1, 0): 1/2 to half of the class, itself among it.
        ("consistency", 0.25),
        ("accuracy", 0.5),  # the share of wrong answers
    ],
)
def test_need_is_that_of_the_view_and_finds_the_two_groups_that_shake(
    predictions: Any, view: Any, expected: float
) -> None:
    np.testing.assert_allclose(severity(predictions, view), np.where(SHAKES, expected, 0))
    groups = find_slices(predictions, [view])
    assert {(group.label, group.predicted) for group in groups} == {("Number", "Person"), ("Person", "Number")}
    topics = " ".join(group.topic for group in groups)
    assert "when" in topics
    assert "whose" in topics
    assert sum(len(group.samples) for group in groups) == 20
    assert all(group.gain == pytest.approx(10 * 0.5 / 40) for group in groups)
    assert [group.share for group in groups] == pytest.approx([0.5, 0.5])


def test_function_words_alone_name_no_group(predictions: Any) -> None:
    """Every text of one class that shakes shows "was not a", and no other words that others lack."""
    samples = tuple(
        dataclasses.replace(one, text=f"w{place} was not a" if shakes and one.label == "Number" else f"w{place}")
        for place, (one, shakes) in enumerate(zip(predictions.samples, SHAKES, strict=True))
    )
    of_samples = dataclasses.replace(predictions, samples=samples)
    assert find_slices(of_samples, ["sensitivity"]) == ()
    assert diagnose_predictions(without_labels(of_samples)).slices == ()


def test_without_labels_the_shaking_samples_are_grouped_and_no_class_is_named(predictions: Any) -> None:
    diagnosis = diagnose_predictions(without_labels(predictions))
    assert set(diagnosis.failure_cases) == {"sensitivity"}
    assert diagnosis.slices
    assert all(group.label is None and group.gain == 0 for group in diagnosis.slices)
    assert all(one.right is None and one.consistency is None for one in diagnosis.failure_cases["sensitivity"])


def test_weak_samples_come_most_sensitive_first_with_their_answers(predictions: Any) -> None:
    diagnosis = diagnose_predictions(predictions)
    weak = diagnosis.failure_cases["sensitivity"]
    assert [one.sensitivity for one in weak] == sorted((one.sensitivity for one in weak), reverse=True)
    assert weak[0].answers == {"Number": 2, "Person": 2}
    assert weak[0].right == 2
    assert weak[0].consistency == pytest.approx(0.75)
    data = json.loads(json.dumps(diagnosis.to_dict()))
    assert {"view", "label", "predicted", "size", "topic", "samples"} <= set(data["groups"][0])


def test_texts_without_a_word_are_no_reason_to_fail(predictions: Any) -> None:
    wordless = tuple(dataclasses.replace(one, text="???") for one in predictions.samples)
    assert diagnose_predictions(dataclasses.replace(predictions, samples=wordless)).slices == ()


# a, b, and N/A as the last class
FLIPPING = Predictions(
    np.array([[0, 0, 0], [0, 1, 0], [1, 1, 2], [2, 2, 2]]),
    tuple(Sample(str(number), f"text {number}", "a") for number in range(4)),
    ("a", "b"),
)


def report(*rephrasings: str) -> PromptReport:
    nothing = Diagnosis.__new__(Diagnosis)  # what is diagnosed is no part of it
    predictions = dataclasses.replace(FLIPPING, rephrasings=rephrasings)
    return PromptReport(Prompt("Judge it.", ("a", "b")), predictions, 0.2, 0.0, None, nothing)


def test_verdicts_flip_that_some_wording_answers_otherwise_than_the_original() -> None:
    found = report("Judge it.", "Decide it.", "Say it.")
    assert found.flips is not None
    assert found.flips.tolist() == [False, True, True, False]  # by hand: row 2 has an a and a b, row 3 an N/A
    assert found.flips_line.startswith("Flips: 2 of 4 samples (50 %, 95 % interval ")
    assert found.flips_line.endswith("are answered otherwise under some of 2 rewordings than under the original")
    for without in (report("Decide it.", "Say it.", "Judge it."), report()):  # the original is the first
        assert (without.flips, without.flips_line) == (None, "")


def row(subject: str, body: str) -> Row:
    return Row.of({"id": "x", "subject": subject, "body": body, "reason": "invoice"}, ("subject", "body"))


@pytest.fixture
def mails() -> Any:
    """Bills are said in the subject and taken for sales by half; sales mails say "invoice" in the body only."""
    texts = [(row(f"Invoice {word}", f"please fix {word}"), 0) for word in ("oak", "elm", "ash", "fir", "yew", "bay")]
    texts += [(row(f"Offer {word}", f"with invoice later {word}"), 1) for word in ("red", "tan", "sky", "pea", "gem")]
    truth = np.array([label for _, label in texts])
    array = np.repeat(truth[:, None], 4, axis=1)
    array[:6, :2] = 1
    samples = tuple(Sample(str(index), text, ("billing", "sales")[label]) for index, (text, label) in enumerate(texts))
    return Predictions(array, samples, ("billing", "sales"))


@pytest.mark.parametrize("view", ["sensitivity", "accuracy"])
def test_a_slice_names_the_field_that_tells_in_readable_words(mails: Any, view: Any) -> None:
    """The word "invoice" is in every mail, so that it tells something of subjects alone."""
    found = find_slices(mails, [view])
    assert found[0].label == "billing"
    assert "invoice" not in found[0].phrases
    assert all(phrase.split(": ")[0] in ("subject", "body") for phrase in found[0].phrases)
    beginnings = ('subject begins with "', 'subject contains "', 'body begins with "', 'body contains "')
    assert all(part.startswith(beginnings) for part in found[0].topic.split("; "))
    phrases = " ".join(phrase for one in found for phrase in one.phrases)
    assert "reason" not in phrases
    assert "id:" not in phrases
