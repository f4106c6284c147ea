"""Flip pairs, and the rephrasings that do the damage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.metrics import (
    FlipPair,
    consistency_rate,
    flip_pairs,
    prediction_counts,
    rephrasing_damage,
    rephrasing_disagreement,
    sample_flips,
)

COUNTS = [[1, 0, 3], [3, 0, 1], [0, 2, 2], [4, 0, 0]]


def test_a_sample_flips_between_its_two_most_frequent_labels() -> None:
    assert sample_flips(COUNTS).tolist() == [[2, 0], [0, 2], [1, 2], [0, -1]]
    assert sample_flips(np.array(COUNTS) / 4).tolist() == [[2, 0], [0, 2], [1, 2], [0, -1]]
    assert sample_flips(np.array(COUNTS, dtype=np.uint8)).tolist() == [[2, 0], [0, 2], [1, 2], [0, -1]]


def test_pairs_are_listed_most_common_first_whichever_way_they_flip() -> None:
    assert flip_pairs(COUNTS) == [FlipPair(0, 2, 2, 0.5), FlipPair(1, 2, 1, 0.25)]


def test_no_flips_no_pairs() -> None:
    assert flip_pairs([[4, 0], [0, 4]]) == []


def test_damage_is_the_accuracy_lost_against_the_others() -> None:
    # accuracies 1, 1/2, 0: against the others' means 1/4, 1/2, 3/4
    assert rephrasing_damage([[0, 0, 1], [1, 0, 0]], [0, 1]) == pytest.approx([-0.75, 0, 0.75])


def test_disagreement_averages_to_one_minus_the_consistency_rate() -> None:
    predictions = np.random.default_rng(0).integers(3, size=(20, 6))
    expected = 1 - consistency_rate(prediction_counts(predictions, 3))
    assert rephrasing_disagreement(predictions).mean() == pytest.approx(expected)
    # by hand: the third contradicts both others on the first sample, and nobody on the second: (1 + 0) / 2
    assert rephrasing_disagreement([[0, 0, 1], [1, 1, 1]]).tolist() == [0.25, 0.25, 0.5]


@pytest.mark.parametrize("measure", [rephrasing_disagreement, lambda p: rephrasing_damage(p, [0, 1])])
def test_a_single_rephrasing_has_nothing_to_compare_with(measure: Any) -> None:
    with pytest.raises(ValueError, match="predictions has one rephrasing"):
        measure([[0], [1]])
