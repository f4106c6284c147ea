"""The simulated model is as documented: its answers agree with the scores it says they have."""

from __future__ import annotations

import hashlib
import itertools
import math
import runpy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from psopt.errors import InputError
from psopt.metrics import consistency, micro_f1, prediction_counts, sensitivity
from psopt.models.sim import SimulatedModel
from psopt.search_spaces import Definition, Example, Prompt
from psopt.tasks import DatasetInfo, Sample, Task

from tests.sweeps import each

EXPECTED = runpy.run_path(str(Path(__file__).resolve().parents[2] / "experiments" / "_expected_scores.py"))
expected_scores: Any = EXPECTED["expected_scores"]
expected_of: Any = EXPECTED["expected_of"]
LABELS = ("Number", "Person", "Place", "Thing")
OPENINGS = ("when", "who", "where", "what")
N = 480
TEXTS = [f"{OPENINGS[i % 4]} was case{i} {'reddish' if i % 3 else 'bluish'} ?" for i in range(N)]
TRUTH = np.arange(N) % 4
TRUE_LABELS = [LABELS[label] for label in TRUTH]
C = len(LABELS) + 1
PROMPT = Prompt("Sort the question.", LABELS, "question")
REDDISH = np.array(["reddish" in text for text in TEXTS])
MIXED, SURE = "accuracy=0.4,wobble=0.6,na=0.5,grouped=0,seed=3", "accuracy=0.9,wobble=0.1,grouped=1"


def make_task(texts: Sequence[str] = TEXTS, labels: Sequence[str] = TRUE_LABELS) -> Task:
    samples = tuple(Sample(str(i), text, label) for i, (text, label) in enumerate(zip(texts, labels, strict=True)))
    return Task("made up", PROMPT.description, LABELS, (), (), samples, DatasetInfo("made up", "memory", "0" * 64))


def model_of(options: str = "") -> Any:
    return SimulatedModel(options, make_task())


def rephrased(n: int, prompt: Prompt = PROMPT) -> list[Any]:
    return [prompt.described_as(f"Sort the question, wording {i}.") for i in range(n)]


def scores(predictions: Any, truth: Any = TRUTH) -> Any:
    counts = prediction_counts(predictions, C)
    return np.array([micro_f1(predictions, truth), sensitivity(counts), consistency(counts, truth)])


def as_array(expected: Any) -> Any:
    return np.array([expected.f1, expected.sensitivity, expected.consistency])


def noted(*notes: Any) -> Any:
    return replace(PROMPT, notes=notes)


RED_IS_PERSON = 'A question that contains "reddish" belongs to Person.'
NOTED = noted(RED_IS_PERSON)


@each("options, prompt", [("wobble=1", NOTED), (MIXED, NOTED), (SURE, PROMPT)])
def test_measured_scores_have_the_stated_means_at_a_finite_number_of_rephrasings(options: str, prompt: Prompt) -> None:
    """Twenty independent measurements of Q = 25: their mean is within five standard errors."""
    model = model_of(options)
    predictions = model.predict(rephrased(500, prompt), TEXTS)
    measured = np.array([scores(block) for block in np.split(predictions, 20, axis=1)])
    expected = as_array(expected_of(model, prompt, TEXTS, TRUE_LABELS, 25))
    assert (np.abs(measured.mean(axis=0) - expected) < 5 * measured.std(axis=0, ddof=1) / math.sqrt(20)).all()


def test_expected_scores_are_those_of_all_possible_answers() -> None:
    """Three texts, two rephrasings, three classes: the mean over the 3^6 outcomes, each by its probability."""
    profiles = np.array([[0.5, 0.3, 0.2], [0.1, 0.9, 0.0], [0.25, 0.25, 0.5]])
    truth = np.array([0, 1, 0])
    mean = np.zeros(3)
    for outcome in itertools.product(range(3), repeat=6):
        answers = np.array(outcome).reshape(3, 2)
        counts = prediction_counts(answers, 3)
        chance = np.prod(profiles[np.arange(3)[:, None], answers])
        mean += chance * np.array([micro_f1(answers, truth), sensitivity(counts), consistency(counts, truth)])
    np.testing.assert_allclose(as_array(expected_scores(profiles, truth, 2)), mean, rtol=1e-12)


def test_options_mean_what_they_say() -> None:
    """Over 20,000 ungrouped texts means are within .02 of the options: 5 standard deviations of at most 1/2."""
    texts = [f"text {i}" for i in range(20_000)]
    model = model_of("accuracy=0.6,wobble=0.3,na=0.25,grouped=0")
    truth = np.array([LABELS.index(label) for label in model.true_labels(texts)])
    table = model.profiles(PROMPT, texts)
    assert table[np.arange(20_000), truth].mean() == pytest.approx(0.6, abs=0.02)
    assert table[:, -1].mean() == pytest.approx(0.1, abs=0.02)
    assert np.bincount(truth, minlength=4).min() > 4700


@each(
    "prompt, pull",
    [
        (NOTED, 1.5),
        (noted("Questions about reddish things belong to Person."), 1.5),
        (noted(RED_IS_PERSON, 'If "reddish" is in it, Person it is.'), 3.0),
        (replace(PROMPT, definitions=(Definition("Person", "a reddish, or a green one"),)), 0.5),
        (replace(PROMPT, examples=(Example("Is it reddish ?", "Person"),)), 0.25),
    ],
)
def test_an_edit_moves_its_share_of_the_texts_it_bears_on_and_no_others(prompt: Prompt, pull: float) -> None:
    model = model_of("grouped=0")
    before, after = model.profiles(PROMPT, TEXTS), model.profiles(prompt, TEXTS)
    np.testing.assert_array_equal(before[~REDDISH], after[~REDDISH])
    assert (after[REDDISH, 1] >= before[REDDISH, 1]).all()
    left = 1 - after[REDDISH, 1].mean()
    # 320 texts: 5 standard deviations of a mean of values in [0, 1] are at most 5 / 2 / sqrt(320) = .14
    assert left == pytest.approx((1 - before[REDDISH, 1].mean()) * math.exp(-pull), abs=0.14)


def test_probabilities_are_those_the_answers_are_drawn_from_and_without_wobble_answers_never_change() -> None:
    model, prompts = model_of(), [*rephrased(2), NOTED]
    table = model.predict_proba(prompts, TEXTS)
    np.testing.assert_allclose(table.sum(axis=2), 1)
    for column, prompt in enumerate((PROMPT, PROMPT, NOTED)):
        np.testing.assert_array_equal(table[:, column], model.profiles(prompt, TEXTS))
    predictions = model.predict(prompts, TEXTS)
    assert (np.take_along_axis(table, predictions[:, :, None], axis=2) > 0).all()
    steady = model_of("wobble=0").predict(rephrased(5, NOTED), TEXTS)
    assert (steady == steady[:, :1]).all()


def test_every_process_and_version_answers_the_same() -> None:
    prompts = [Prompt(f"wording {i}", LABELS) for i in range(10)]
    model = SimulatedModel("seed=7", make_task((), ()))
    answers = model.predict(prompts, [f"naïve text {i}" for i in range(100)])
    digest = hashlib.sha256(answers.astype("<i8").tobytes()).hexdigest()
    assert digest == "77e5d02a90643c77f8a2e47f3f638f9ab97bf62a2b876f1c43f20b5918ee5087"


def test_labels_may_stand_in_another_order_but_must_be_the_task_s() -> None:
    model, order = model_of(), [2, 0, 3, 1]
    shuffled = replace(PROMPT, labels=tuple(LABELS[i] for i in order))
    np.testing.assert_array_equal(model.profiles(shuffled, TEXTS), model.profiles(PROMPT, TEXTS)[:, [*order, 4]])
    with pytest.raises(InputError, match="Number, Person, Place, Thing"):
        model.predict([replace(PROMPT, labels=("yes", "no"))], TEXTS)


@each(
    "options, message",
    [
        ("wobbel=0.3", "no option 'wobbel'; its options are accuracy, wobble, na, grouped, obey, seed"),
        ("wobble", "wobble=\\(nothing\\) can't be; it must be from 0 to 1"),
        ("accuracy=nan", "from 0 to 1"),
        ("accuracy=high", "accuracy=high can't be"),
        ("obey=inf", "0 or more"),
        ("seed=1.5", "a whole number"),
        ("na=0.1,na=0.2", "stands twice"),
    ],
)
def test_bad_options_are_named(options: str, message: str, task: Task) -> None:
    with pytest.raises(InputError, match=message):
        SimulatedModel(options, task)
