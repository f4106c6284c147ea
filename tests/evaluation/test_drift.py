"""Answers beside other answers of the same prompt: to other texts, to the same ones again, to changed ones.

Shifts between two groups of texts are seen where there is one, and in one case of twenty where there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.evaluation import Predictions, compare_reruns, family_scores, shifts

from tests.evaluation.grids import grid


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
    return grid(array, labels="abc", probabilities=probabilities)


def test_a_shift_of_labels_and_one_of_s_are_told_apart() -> None:
    of_labels = shifts(answered(0, 150), answered(1, 100, (0.2, 0.3, 0.5)))
    assert {shift.measure: shift.is_seen for shift in of_labels} == {"sensitivity": False, "label_shares": True}
    before, after = of_labels[1].shares
    assert after["c"] > before["c"] + 0.1
    assert sum(after.values()) == pytest.approx(1)
    of_s = shifts(answered(0, 150), answered(1, 100, noise=0.5))
    assert {shift.measure: shift.is_seen for shift in of_s} == {"sensitivity": True, "label_shares": False}
    assert (of_s[0].after or 0) > (of_s[0].before or 1)


def test_without_a_shift_one_is_seen_in_one_of_twenty_cases() -> None:
    same = answered(0, 60)
    assert [shift.p_value for shift in shifts(same, same)] == [1.0, 1.0]
    n_seen = sum(any(of.is_seen for of in shifts(answered(2 * k, 60), answered(2 * k + 1, 40))) for k in range(60))
    assert n_seen <= 0.05 * 60 + 2 * np.sqrt(0.05 * 0.95 * 60)


HALVES = [[0, 1, 0, 1]] * 10  # entropy ln 2 of ln 3
SAME = [[0, 0, 0, 0]] * 10


def test_what_is_beyond_reruns_is_the_difference_of_the_two_s() -> None:
    half = np.log(2) / np.log(3)
    found = compare_reruns(grid(HALVES), grid(HALVES[:5] + SAME[:5]))
    assert (found.sensitivity, found.beyond) == pytest.approx((half / 2, half / 2))
    assert found.ci[0] < half / 2 < found.ci[1]
    assert (found.n_samples, found.n_askings, found.changes) == (10, 4, True)
    less = compare_reruns(grid(SAME), grid(HALVES))
    assert less.beyond == pytest.approx(-half)
    assert "nothing beyond that" in less.line(0.0)


def test_a_family_of_texts_is_compared_with_the_unchanged_text() -> None:
    families = ("unchanged", "typos", "typos", "case")
    found = family_scores(grid([[0, 1, 1, 0], [0, 1, 0, 0]], families=families))
    assert found["typos"].flips == 0.75
    # of the first sample a, b, b and of the second a, b, a: entropy of (1/3, 2/3)
    assert found["typos"].sensitivity == pytest.approx((np.log(3) - 2 / 3 * np.log(2)) / np.log(3))
    assert (found["case"].flips, found["case"].sensitivity, found["case"].f1) == (0.0, 0.0, None)
    assert (found["unchanged"].n, found["unchanged"].flips) == (1, None)
