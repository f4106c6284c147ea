from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from psopt.diagnosis import PhraseIndex, diagnose_predictions, find_slices, severity
from psopt.evaluation import Predictions, evaluate
from psopt.tasks import Sample, Task

REPHRASINGS = ["odd", "even", "odd again", "even too"]  # lengths 3, 4, 9, 8: the keyword model answers 1, 0, 1, 0


@pytest.fixture
def predictions(task: Task, keyword_model: Any) -> Any:
    from psopt.search_spaces import seed_prompt

    return evaluate(keyword_model, seed_prompt(task), REPHRASINGS, task.train)


def test_need_by_sensitivity_is_the_entropy_of_the_answers(predictions: Any) -> None:
    # "when" and "whose": two answers of each of two of three classes: ln 2 / ln 3; the others never change.
    expected = np.where(np.arange(40) % 4 % 3 == 0, np.log(2) / np.log(3), 0)
    np.testing.assert_allclose(severity(predictions, "sensitivity"), expected)


def test_need_by_consistency_is_the_mean_distance_from_the_class_where_answers_change(predictions: Any) -> None:
    # Number: 10 samples at (1/2, 1/2) and 10 at (1, 0): distance 1/2 to half of the class, itself among it: 1/4.
    expected = np.where(np.arange(40) % 4 % 3 == 0, 0.25, 0)
    np.testing.assert_allclose(severity(predictions, "consistency"), expected)


def test_need_by_accuracy_is_the_share_of_wrong_answers(predictions: Any) -> None:
    np.testing.assert_allclose(severity(predictions, "accuracy"), np.where(np.arange(40) % 4 % 3 == 0, 0.5, 0))


@pytest.mark.parametrize("view", ["sensitivity", "consistency", "accuracy"])
def test_every_view_finds_the_two_groups_that_shake_and_nothing_else(predictions: Any, view: Any) -> None:
    groups = find_slices(predictions, view)
    assert {(group.label, group.predicted) for group in groups} == {("Number", "Person"), ("Person", "Number")}
    topics = " ".join(group.topic for group in groups)
    assert "when" in topics
    assert "whose" in topics
    assert sum(len(group.samples) for group in groups) == 20
    assert all(group.gain == pytest.approx(10 * 0.5 / 40) for group in groups)


def test_a_phrase_that_other_classes_share_names_no_group(task: Task, keyword_model: Any) -> None:
    """ "did" is in all the shaking questions here, but as often in others that are right."""
    from psopt.search_spaces import seed_prompt

    samples = [Sample(f"a{i}", f"when did {i} end ?", "Number") for i in range(6)]
    samples += [Sample(f"b{i}", f"who did {i} love ?", "Person") for i in range(6)]
    predictions = evaluate(keyword_model, seed_prompt(task), REPHRASINGS, samples)
    phrases = {phrase for group in find_slices(predictions, "accuracy") for phrase in group.phrases}
    assert "did" not in phrases


def test_without_labels_the_shaking_samples_are_grouped_and_no_class_is_named(predictions: Any) -> None:
    unlabelled = tuple(dataclasses.replace(sample, label=None) for sample in predictions.samples)
    diagnosis = diagnose_predictions(Predictions(predictions.array, unlabelled, predictions.labels))
    assert set(diagnosis.failure_cases) == {"sensitivity"}
    assert diagnosis.slices
    assert all(group.label is None and group.gain == 0 for group in diagnosis.slices)
    assert all(one.right is None and one.consistency is None for one in diagnosis.failure_cases["sensitivity"])


def test_weak_samples_come_most_sensitive_first_with_their_answers(predictions: Any) -> None:
    weak = diagnose_predictions(predictions).failure_cases["sensitivity"]
    assert [one.sensitivity for one in weak] == sorted((one.sensitivity for one in weak), reverse=True)
    assert weak[0].answers == {"Number": 2, "Person": 2}
    assert weak[0].right == 2
    assert weak[0].consistency == pytest.approx(0.75)


def test_the_order_of_samples_changes_no_group(predictions: Any) -> None:
    order = np.random.default_rng(0).permutation(40)
    shuffled = Predictions(predictions.array[order], tuple(predictions.samples[i] for i in order), predictions.labels)
    found = [
        {(g.label, g.phrases, frozenset(g.samples)) for g in find_slices(p, "accuracy")}
        for p in (predictions, shuffled)
    ]
    assert found[0] == found[1]


def test_texts_too_few_to_share_a_phrase_give_no_group(predictions: Any) -> None:
    few = Predictions(predictions.array[:2], predictions.samples[:2], predictions.labels)
    assert find_slices(few, "sensitivity") == ()


def test_purity_counts_two_texts_of_no_label() -> None:
    index = PhraseIndex.of(["who a", "who b", "who c"])
    labelled = [Sample("1", "who x", "Person"), Sample("2", "who y", "Person"), Sample("3", "when z", "Number")]
    purity = index.purity(labelled, ["Number", "Person"])
    np.testing.assert_allclose(purity[index.phrases.index("who")], [0, 2 / 4])


def test_diagnosis_is_plain_json_data_with_the_contract_s_keys(predictions: Any) -> None:
    import json

    data = diagnose_predictions(predictions).to_dict()
    json.dumps(data)
    assert {"view", "label", "predicted", "size", "topic", "samples"} <= set(data["groups"][0])
