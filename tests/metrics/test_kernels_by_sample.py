"""Similarities of each sample's own answers, weights of answers, and rows that belong together."""

from __future__ import annotations

import numpy as np
import pytest
from psopt.metrics import (
    compare_scores,
    mean_difference,
    mean_interval,
    prediction_counts,
    sample_sensitivity,
    score_intervals,
    sensitivity,
)

RNG = np.random.default_rng(7)


def test_the_identity_for_each_sample_is_the_entropy_of_classes() -> None:
    counts = prediction_counts(RNG.integers(0, 4, (50, 9)), 4)
    kernels = np.broadcast_to(np.eye(4), (50, 4, 4))
    assert sample_sensitivity(counts, similarity=kernels) == pytest.approx(sample_sensitivity(counts), abs=1e-12)


def test_one_kernel_for_all_is_that_kernel_for_each() -> None:
    counts = prediction_counts(RNG.integers(0, 3, (40, 6)), 3)
    near = np.array([[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])
    each = np.broadcast_to(near, (40, 3, 3))
    for correction in (None, "jackknife"):
        one = sample_sensitivity(counts, similarity=near, correction=correction)
        assert sample_sensitivity(counts, similarity=each, correction=correction) == pytest.approx(one, abs=1e-12)


def test_two_answers_half_alike_by_hand() -> None:
    """K has eigenvalues (1 +- .5) / 2: entropy -(.75 ln .75 + .25 ln .25) = .5623 nats, by ln 2 = .8113."""
    kernels = np.array([[[1, 0.5], [0.5, 1]], [[1, 1], [1, 1]], [[1, 0], [0, 1]]])
    found = sample_sensitivity([[2, 2], [2, 2], [2, 2]], similarity=kernels)
    assert found == pytest.approx([0.8113, 0.0, 1.0], abs=1e-4)


def test_each_prompt_may_have_its_own_kernels() -> None:
    first, second = RNG.integers(0, 3, (30, 5)), RNG.integers(0, 3, (30, 5))
    y = np.zeros(30, dtype=int)
    alike, unlike = np.ones((30, 3, 3)), np.broadcast_to(np.eye(3), (30, 3, 3))
    found = compare_scores(first, second, y, 3, similarity=alike, second_similarity=unlike)["sensitivity"]
    assert found.difference == pytest.approx(sensitivity(prediction_counts(second, 3)))


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (np.ones((4, 3, 3)), r"5 samples and 3 classes it must be \(5, 3, 3\)"),
        (np.full((5, 3, 3), 2.0), r"numbers in \[0, 1\]"),
        (np.zeros((5, 3, 3)), "1 of each class with itself"),
        (np.array([[[1, 1, 0], [1, 1, 1], [0, 1, 1]]] * 5), "an eigenvalue is negative"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel: np.ndarray, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        sample_sensitivity([[1, 1, 1]] * 5, similarity=kernel)


def test_equal_weights_are_none() -> None:
    scores = RNG.random((20, 6))
    assert mean_interval(scores, weights=np.full((20, 6), 3.0)) == pytest.approx(mean_interval(scores))


def test_a_weighted_mean_is_a_ratio_of_sums() -> None:
    scores, weights = RNG.random((20, 6)), RNG.integers(0, 4, (20, 6))
    found = mean_interval(scores, weights=weights)
    assert found.estimate == pytest.approx((scores * weights).sum() / weights.sum())
    other = RNG.random((20, 6))
    difference = mean_difference(scores, other, first_weights=weights, second_weights=weights)
    assert difference.difference == pytest.approx(((other - scores) * weights).sum() / weights.sum())


def test_a_weighted_mean_scatters_as_its_interval_says() -> None:
    """Of 400 data sets the 95 % intervals hold the true ratio in 90 to 99 %."""
    hits = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        weights = rng.integers(1, 5, (80, 6))
        scores = rng.random((80, 6)) < 0.3 + 0.1 * weights  # heavier answers are right more often
        low, high = mean_interval(scores, weights=weights).bounds
        hits += low <= (np.arange(1, 5) * (0.3 + 0.1 * np.arange(1, 5))).sum() / 10 <= high
    assert 0.90 <= hits / 400 <= 0.99


def test_rows_of_one_sample_count_as_one_draw() -> None:
    """Every row three times over says no more than once: the interval must not shrink."""
    answers, y = RNG.integers(0, 3, (40, 8)), RNG.integers(0, 2, 40)
    once = score_intervals(answers, y, 3)
    groups = np.repeat(np.arange(40), 3)
    thrice = score_intervals(np.repeat(answers, 3, axis=0), np.repeat(y, 3), 3, groups=groups)
    alone = score_intervals(np.repeat(answers, 3, axis=0), np.repeat(y, 3), 3)
    width = {name: high - low for name, (_, low, high) in once.items()}
    for name in ("f1", "sensitivity"):
        assert thrice[name].high - thrice[name].low == pytest.approx(width[name], rel=1e-9)
        assert alone[name].high - alone[name].low < width[name]


@pytest.mark.parametrize("groups", [[0, 1], [0.5] * 4, [-1, 0, 0, 1]])
def test_groups_that_are_none_are_refused(groups: list[float]) -> None:
    with pytest.raises(ValueError, match="groups must hold 4 integers"):
        score_intervals([[0, 1]] * 4, [0, 0, 1, 1], 3, groups=groups)


@pytest.mark.parametrize("weights", [[[1.0]], [[-1.0, 1.0]] * 2, [[np.inf, 1.0]] * 2])
def test_weights_that_are_none_are_refused(weights: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="weights"):
        mean_interval([[0.5, 0.5]] * 2, weights=weights)
