"""Shifts between two groups of texts: seen where there is one, and in one case of twenty where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.evaluation import Predictions, mean_shift, share_shift, shifts
from psopt.tasks import Sample


def answered(
    seed: int, n: int, shares: Any = (0.5, 0.3, 0.2), noise: float = 0.2, *, soft: bool = False
) -> Predictions:
    stream = np.random.default_rng(seed)
    labels = stream.choice(3, n, p=shares)
    array = np.where(stream.random((n, 5)) < noise, stream.integers(3, size=(n, 5)), labels[:, None])
    probabilities = None
    if soft:
        probabilities = 0.7 * np.eye(4)[array] + 0.075
        probabilities[..., 3] = 1 - probabilities[..., :3].sum(axis=2)
    samples = tuple(Sample(str(place), f"text {place}") for place in range(n))
    return Predictions(array, samples, ("a", "b", "c"), probabilities)


def test_a_shift_of_labels_and_one_of_s_are_told_apart() -> None:
    of_labels = shifts(answered(0, 150), answered(1, 100, (0.2, 0.3, 0.5)))
    assert {shift.measure: shift.is_seen for shift in of_labels} == {"sensitivity": False, "label_shares": True}
    before, after = of_labels[1].shares
    assert after["c"] > before["c"] + 0.1
    assert sum(after.values()) == pytest.approx(1)
    of_s = shifts(answered(0, 150), answered(1, 100, noise=0.5))
    assert {shift.measure: shift.is_seen for shift in of_s} == {"sensitivity": True, "label_shares": False}
    assert of_s[0].before is not None
    assert of_s[0].after is not None
    assert of_s[0].after > of_s[0].before


def test_posix_is_tested_where_both_have_probabilities() -> None:
    found = shifts(answered(0, 150, soft=True), answered(1, 100, noise=0.5, soft=True))
    assert [shift.measure for shift in found] == ["sensitivity", "label_shares", "posix"]
    assert found[2].is_seen
    assert len(shifts(answered(0, 50, soft=True), answered(1, 50))) == 2


def test_the_same_answers_have_not_shifted() -> None:
    same = answered(0, 60)
    assert [shift.p_value for shift in shifts(same, same)] == [1.0, 1.0]


def test_without_a_shift_one_is_seen_in_one_of_twenty_cases() -> None:
    n_seen = sum(any(of.is_seen for of in shifts(answered(2 * k, 60), answered(2 * k + 1, 40))) for k in range(60))
    assert n_seen <= 0.05 * 60 + 2 * np.sqrt(0.05 * 0.95 * 60)


def test_p_values_are_those_of_all_permutations() -> None:
    # 3 against 1 of two values: of the 4 ways to choose the one, 1 is as far from the mean
    assert mean_shift(np.zeros(3), np.ones(1)) == pytest.approx(1 / 4, abs=0.02)
    # of 6 ways to choose 2 of 2 + 2, 2 give (2, 0) or (0, 2)
    assert share_shift(np.array([2, 0, 0]), np.array([0, 2, 0])) == pytest.approx(2 / 6, abs=0.02)
