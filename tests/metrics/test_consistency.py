"""Consistency: hand-worked, pairwise, and its conventions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.metrics import consistency, pairwise_consistency, sample_consistency

# Q = 4. Class 0: samples (4 0 0), (2 2 0), (4 0 0); class 1: (0 3 1), (0 1 3); class 2 has none.
COUNTS = np.array([[4, 0, 0], [2, 2, 0], [4, 0, 0], [0, 3, 1], [0, 1, 3]])
Y = np.array([0, 0, 0, 1, 1])
# Class 0: TVD between the first two is (|4 - 2| + |0 - 2|) / 4 / 2 = 1/2, between the first and the third 0. Over 9
# ordered pairs: 4 of distance 1/2, so C = 1 - 2/9. Class 1: TVD = (2 + 2) / 4 / 2 = 1/2, over 4 pairs: 1 - 1/4.
BY_CLASS = [1 - 2 / 9, 3 / 4]


def random_case(seed: int, n_rephrasings: int = 7) -> tuple[Any, Any]:
    """Counts of 60 samples, and labels of which one never occurs."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(n_rephrasings, rng.dirichlet(np.ones(5)), size=60), rng.integers(4, size=60)


@pytest.mark.parametrize("table", [COUNTS, COUNTS / 4], ids=["counts", "probabilities"])
def test_hand_worked_values(table: Any) -> None:
    assert consistency(table, Y, average=None) == pytest.approx([*BY_CLASS, np.nan], nan_ok=True, abs=1e-15)
    # pooled: 9 pairs of class 0 and 4 of class 1; macro: their plain mean
    assert consistency(table, Y) == pytest.approx(1 - (2 + 1) / 13, abs=1e-15)
    assert consistency(table, Y, average="macro") == pytest.approx(sum(BY_CLASS) / 2, abs=1e-15)
    # without self-pairs: 4 halves over 6 pairs, 2 halves over 2 pairs
    without = consistency(table, Y, average=None, self_pairs=False)
    assert without == pytest.approx([2 / 3, 1 / 2, np.nan], nan_ok=True, abs=1e-15)
    assert consistency(table, Y, self_pairs=False) == pytest.approx(1 - 3 / 8, abs=1e-15)
    # sample 0: distances 0, 1/2, 0 to its class of three: 1 - 1/6; without itself 1 - 1/4
    assert sample_consistency(table, Y) == pytest.approx([5 / 6, 2 / 3, 5 / 6, 3 / 4, 3 / 4])
    assert sample_consistency(table, Y, self_pairs=False) == pytest.approx([3 / 4, 1 / 2, 3 / 4, 1 / 2, 1 / 2])
    assert pairwise_consistency(table[:3]).tolist() == [[1, 0.5, 1], [0.5, 1, 0.5], [1, 0.5, 1]]


def test_na_takes_part_in_the_distance() -> None:
    """The same right answers, but the rest is N/A (last) for one and a wrong label for the other: TVD = 1/2."""
    assert consistency([[2, 0, 2], [2, 2, 0]], [0, 0], self_pairs=False) == 0.5


def test_thousands_of_classes_are_sorted_instead() -> None:
    """Where the histogram would be too large, counts take the way of probabilities, to the same value."""
    counts, y = random_case(3)
    wide = np.pad(counts, ((0, 0), (0, 3000)))
    assert consistency(wide, y) == pytest.approx(consistency(counts, y), abs=1e-12)
    assert sample_consistency(wide, y) == pytest.approx(sample_consistency(counts, y), abs=1e-12)


def test_small_integer_types_do_not_overflow() -> None:
    counts, y = random_case(5, n_rephrasings=120)
    assert consistency(counts.astype(np.uint8), y) == consistency(counts, y)
    assert (sample_consistency(counts.astype(np.int8), y) == sample_consistency(counts, y)).all()
    assert (pairwise_consistency(counts.astype(np.uint8)) == pairwise_consistency(counts)).all()
