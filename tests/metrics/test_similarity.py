"""S of answers that are alike to a degree: von Neumann's entropy, which is E25's S where only equal ones are alike.

One kernel holds for all samples, or each sample's own answers have one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.metrics import (
    class_intervals,
    compare_scores,
    prediction_counts,
    sample_sensitivity,
    score_intervals,
    sensitivity,
)

N, Q, C = 60, 7, 5
# Labels at 0, 1, 2 .. with N/A last, alike as far as they are near.
SCALE = np.eye(C)
SCALE[:-1, :-1] = 1 - np.abs(np.arange(C - 1)[:, None] - np.arange(C - 1)) / (C - 2)
DRAWS = np.random.default_rng(3)
ANSWERS, OTHERS, Y = DRAWS.integers(C, size=(N, Q)), DRAWS.integers(C, size=(N, Q)), DRAWS.integers(C - 1, size=N)
COUNTS = prediction_counts(ANSWERS, C)


def for_each(kernel: Any) -> Any:
    """The same kernel for each sample."""
    return np.broadcast_to(kernel, (N, *kernel.shape))


EACH = for_each(np.eye(C))


def test_of_equal_and_unequal_answers_it_is_e25_s_s() -> None:
    plain = sample_sensitivity(COUNTS)
    for kernel in (np.eye(C), EACH):
        assert sample_sensitivity(COUNTS, similarity=kernel) == pytest.approx(plain, abs=1e-12)
    assert sample_sensitivity(COUNTS / Q, similarity=np.eye(C)) == pytest.approx(plain, abs=1e-12)
    jackknifed = sample_sensitivity(COUNTS, correction="jackknife", similarity=np.eye(C))
    assert jackknifed == pytest.approx(sample_sensitivity(COUNTS, correction="jackknife"), abs=1e-12)


def test_it_is_the_entropy_of_the_kernel_of_all_q_answers_in_any_order_of_classes() -> None:
    expected = []
    for row in ANSWERS:
        eigenvalues = np.linalg.eigvalsh(SCALE[np.ix_(row, row)] / Q)
        positive = eigenvalues[eigenvalues > 1e-12]
        expected.append(-(positive * np.log(positive)).sum() / np.log(C))
    found = sample_sensitivity(COUNTS, similarity=SCALE)
    assert found == pytest.approx(np.array(expected), abs=1e-9)
    order = DRAWS.permutation(C)
    permuted = sample_sensitivity(COUNTS[:, order], similarity=SCALE[np.ix_(order, order)])
    assert permuted == pytest.approx(found, abs=1e-12)


def test_the_more_alike_answers_are_the_less_they_shake() -> None:
    assert sensitivity(COUNTS, similarity=np.ones((C, C))) == pytest.approx(0, abs=1e-9)
    assert (sample_sensitivity(COUNTS, similarity=SCALE) <= sample_sensitivity(COUNTS) + 1e-12).all()
    near, far, lost = sample_sensitivity([[3, 3, 0, 0, 0], [3, 0, 0, 3, 0], [3, 0, 0, 0, 3]], similarity=SCALE)
    assert 0 < near < far == pytest.approx(lost)


def test_intervals_and_tests_are_those_of_plain_answers_where_only_equal_ones_are_alike() -> None:
    for method, kernel in ((score_intervals, np.eye(C)), (class_intervals, np.eye(C)), (class_intervals, EACH)):
        intervals: Any = method(ANSWERS, Y, C)
        of_kernel: Any = method(ANSWERS, Y, C, similarity=kernel)
        assert _numbers(of_kernel) == pytest.approx(_numbers(intervals), abs=1e-9)
    assert score_intervals(ANSWERS, Y, C, similarity=SCALE)["sensitivity"].estimate == pytest.approx(
        sensitivity(COUNTS, similarity=SCALE)
    )
    plain, alike = (
        compare_scores(ANSWERS, OTHERS, Y, C, similarity=kernel)["sensitivity"] for kernel in (None, np.eye(C))
    )
    assert alike.difference == pytest.approx(plain.difference, abs=1e-9)
    assert alike.p_value == pytest.approx(plain.p_value, abs=1e-6)


def _numbers(intervals: Any) -> list[float]:
    tables = intervals if isinstance(intervals, list) else [intervals]
    return [number for table in tables for interval in table.values() for number in interval]


def test_each_sample_and_each_prompt_may_have_its_own_kernels() -> None:
    for correction in (None, "jackknife"):
        one = sample_sensitivity(COUNTS, similarity=SCALE, correction=correction)
        assert sample_sensitivity(COUNTS, similarity=for_each(SCALE), correction=correction) == pytest.approx(one)
    alike = for_each(np.ones((C, C)))
    found = compare_scores(ANSWERS, OTHERS, Y, C, similarity=alike, second_similarity=EACH)["sensitivity"]
    assert found.difference == pytest.approx(sensitivity(prediction_counts(OTHERS, C)))
