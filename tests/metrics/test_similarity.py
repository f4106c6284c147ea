"""S of answers that are alike to a degree: von Neumann's entropy, which is E25's S where only equal ones are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.metrics import (
    bootstrap_ci,
    class_intervals,
    compare_scores,
    sample_sensitivity,
    score_intervals,
    sensitivity,
)

N, Q, C = 60, 7, 5


def scale(n_classes: int = C) -> Any:
    """Labels at 0, 1, 2 .. with N/A last, alike as far as they are near."""
    places = np.arange(n_classes - 1)
    kernel = np.eye(n_classes)
    kernel[:-1, :-1] = 1 - np.abs(places[:, None] - places) / (n_classes - 2)
    return kernel


@pytest.fixture
def draws() -> Any:
    return np.random.default_rng(3)


@pytest.fixture
def answers(draws: Any) -> Any:
    return draws.integers(C, size=(N, Q))


@pytest.fixture
def counts(answers: Any) -> Any:
    return (answers[:, :, None] == np.arange(C)).sum(axis=1)


def test_of_equal_and_unequal_answers_it_is_e25_s_s(counts: Any) -> None:
    plain = sample_sensitivity(counts)
    assert sample_sensitivity(counts, similarity=np.eye(C)) == pytest.approx(plain, abs=1e-12)
    shares = counts / Q
    assert sample_sensitivity(shares, similarity=np.eye(C)) == pytest.approx(plain, abs=1e-12)
    jackknifed = sample_sensitivity(counts, correction="jackknife")
    assert sample_sensitivity(counts, correction="jackknife", similarity=np.eye(C)) == pytest.approx(
        jackknifed, abs=1e-12
    )


def test_it_is_the_entropy_of_the_kernel_of_all_q_answers(answers: Any, counts: Any) -> None:
    expected = []
    for row in answers:
        eigenvalues = np.linalg.eigvalsh(scale()[np.ix_(row, row)] / Q)
        positive = eigenvalues[eigenvalues > 1e-12]
        expected.append(-(positive * np.log(positive)).sum() / np.log(C))
    assert sample_sensitivity(counts, similarity=scale()) == pytest.approx(np.array(expected), abs=1e-9)


def test_two_answers_that_are_half_alike_by_hand() -> None:
    kernel = [[1, 0.5], [0.5, 1]]
    # eigenvalues .75 and .25
    nats = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert sample_sensitivity([[3, 3]], similarity=kernel, normalize=False) == pytest.approx([nats], abs=1e-12)


def test_answers_that_are_as_good_as_one_have_none(counts: Any) -> None:
    assert sensitivity(counts, similarity=np.ones((C, C))) == pytest.approx(0, abs=1e-9)


def test_alike_answers_never_shake_more_than_unlike_ones(counts: Any) -> None:
    nominal = sample_sensitivity(counts)
    assert (sample_sensitivity(counts, similarity=scale()) <= nominal + 1e-12).all()


def test_near_answers_shake_less_than_far_ones() -> None:
    near, far, lost = sample_sensitivity([[3, 3, 0, 0, 0], [3, 0, 0, 3, 0], [3, 0, 0, 0, 3]], similarity=scale())
    assert 0 < near < far == pytest.approx(lost)


def test_the_order_of_classes_does_not_matter(counts: Any, draws: Any) -> None:
    order = draws.permutation(C)
    permuted = sample_sensitivity(counts[:, order], similarity=scale()[np.ix_(order, order)])
    assert permuted == pytest.approx(sample_sensitivity(counts, similarity=scale()), abs=1e-12)


def test_intervals_and_tests_are_those_of_plain_answers_where_only_equal_ones_are_alike(
    answers: Any, draws: Any
) -> None:
    y = draws.integers(C - 1, size=N)
    other = draws.integers(C, size=(N, Q))
    for method in (score_intervals, class_intervals, bootstrap_ci):
        intervals: Any = method(answers, y, C)
        of_kernel: Any = method(answers, y, C, similarity=np.eye(C))
        assert _numbers(of_kernel) == pytest.approx(_numbers(intervals), abs=1e-9)
    plain, alike = (
        compare_scores(answers, other, y, C, similarity=kernel)["sensitivity"] for kernel in (None, np.eye(C))
    )
    assert alike.difference == pytest.approx(plain.difference, abs=1e-9)
    assert alike.p_value == pytest.approx(plain.p_value, abs=1e-6)


def _numbers(intervals: Any) -> list[float]:
    tables = intervals if isinstance(intervals, list) else [intervals]
    return [number for table in tables for interval in table.values() for number in interval]


def test_intervals_are_of_the_similar_s(answers: Any, counts: Any, draws: Any) -> None:
    y = draws.integers(C - 1, size=N)
    expected = sensitivity(counts, similarity=scale())
    for method in (score_intervals, bootstrap_ci):
        assert method(answers, y, C, similarity=scale())["sensitivity"].estimate == pytest.approx(expected)
    assert score_intervals(answers, y, C, similarity=scale())["f1"] == score_intervals(answers, y, C)["f1"]


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (np.eye(2), "must be"),
        (2 * np.eye(3) - 1, "in \\[0, 1\\]"),
        ([[1, 0.5, 0], [0.2, 1, 0], [0, 0, 1]], "symmetric"),
        (0.5 * np.eye(3), "1 of each class"),
        ([[1, 1, 0], [1, 1, 1], [0, 1, 1]], "no kernel"),
        (np.full((3, 3), np.nan), "numbers"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        sensitivity([[1, 2, 0]], similarity=kernel)


def test_miller_and_madow_s_correction_counts_classes() -> None:
    with pytest.raises(ValueError, match="jackknife"):
        sensitivity([[1, 2, 0]], correction="miller-madow", similarity=np.eye(3))
