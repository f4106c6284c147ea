"""Ordered labels: near answers are nearly right, and nearly the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from psopt.answers import AnswerType
from psopt.evaluation import Predictions, compare_paired, score
from psopt.metrics import mean_interval, sensitivity
from sklearn.metrics import cohen_kappa_score

from tests.evaluation.grids import grid

ORDERED = AnswerType((1.0, 2.0, 3.0, 4.0, 5.0))


def predictions(array: Any, truth: list[int]) -> Predictions:
    return grid(array, truth, "12345", answers=ORDERED)


@pytest.fixture
def drawn() -> Predictions:
    draws = np.random.default_rng(1)
    truth = draws.integers(5, size=80)
    array = np.clip(truth[:, None] + draws.integers(-1, 3, size=(80, 6)), 0, 5)
    return predictions(array, truth.tolist())


def test_closeness_by_hand_on_a_scale_that_may_be_uneven() -> None:
    # 0, 1, 4 steps of 4 away, and N/A
    scores = score(predictions([[0, 1, 4, 5]], [0]))
    assert scores.f1 == pytest.approx((1 + 0.75 + 0 + 0) / 4)
    assert scores.quality_name == "closeness"
    assert scores.ordinal.micro_f1 == 0.25
    assert scores.ordinal.mean_distance == pytest.approx((0 + 1 + 4) / 3)
    uneven = replace(predictions([[1, 2]], [0]), answers=AnswerType((0.0, 1.0, 2.0, 5.0, 10.0)))
    assert score(uneven).f1 == pytest.approx((0.9 + 0.8) / 2)
    one_label = score(predictions([[2, 2], [2, 2]], [2, 2]))
    assert one_label.ordinal.quadratic_kappa is None


def test_beside_closeness_stand_f1_s_and_kappa_as_of_plain_labels(drawn: Predictions) -> None:
    scores, plain = score(drawn), score(replace(drawn, answers=AnswerType()))
    assert scores.ordinal.micro_f1 == plain.f1
    assert scores.ordinal.nominal_sensitivity == plain.sensitivity
    assert plain.ordinal is None
    assert "ordinal" not in plain.to_dict()
    assert scores.sensitivity == pytest.approx(sensitivity(drawn.counts, similarity=ORDERED.similarity))
    assert scores.sensitivity < plain.sensitivity
    assert scores.consistency == plain.consistency
    is_read = drawn.array < 5
    truth = np.broadcast_to(drawn.truth[:, None], drawn.array.shape)
    expected = cohen_kappa_score(truth[is_read], drawn.array[is_read], weights="quadratic")
    assert scores.ordinal.quadratic_kappa == pytest.approx(expected)


def test_intervals_and_tests_are_those_of_closeness(drawn: Predictions) -> None:
    scores = score(drawn, intervals=True)
    assert drawn.quality is not None
    assert scores.ci["f1"] == pytest.approx(mean_interval(drawn.quality).bounds)
    low, high = scores.ci["sensitivity"]
    assert low < scores.sensitivity < high
    better = replace(drawn, array=np.broadcast_to(drawn.truth[:, None], drawn.array.shape))
    paired = compare_paired(drawn, better)
    assert paired["f1"].difference == pytest.approx(1 - scores.f1)
    assert paired["sensitivity"].difference == pytest.approx(-scores.sensitivity)
    assert paired["f1"].p_value < 0.01


def test_similarities_are_a_kernel_on_any_scale() -> None:
    draws = np.random.default_rng(0)
    for n in (2, 5, 30):
        places = np.sort(draws.normal(size=n))
        similarity = AnswerType(tuple(places.tolist())).similarity
        assert similarity is not None
        assert np.linalg.eigvalsh(similarity)[0] > -1e-12
        assert similarity[-1].tolist() == [0.0] * n + [1.0]
