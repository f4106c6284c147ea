"""Flip pairs, and the rephrasings that do the damage."""

from __future__ import annotations

import numpy as np
import pytest
from psopt.metrics import FlipPair, flip_pairs, rephrasing_damage

COUNTS = [[1, 0, 3], [3, 0, 1], [0, 2, 2], [4, 0, 0]]


def test_pairs_are_listed_most_common_first_whichever_way_they_flip() -> None:
    for counts in (COUNTS, np.array(COUNTS) / 4, np.array(COUNTS, dtype=np.uint8)):
        assert flip_pairs(counts) == [FlipPair(0, 2, 2, 0.5), FlipPair(1, 2, 1, 0.25)]


def test_no_flips_no_pairs() -> None:
    assert flip_pairs([[4, 0], [0, 4]]) == []


def test_damage_is_the_accuracy_lost_against_the_others() -> None:
    # accuracies 1, 1/2, 0: against the others' means 1/4, 1/2, 3/4
    assert rephrasing_damage([[0, 0, 1], [1, 0, 0]], [0, 1]) == pytest.approx([-0.75, 0, 0.75])


def test_a_single_rephrasing_has_nothing_to_compare_with() -> None:
    with pytest.raises(ValueError, match="predictions has one rephrasing"):
        rephrasing_damage([[0], [1]], [0, 1])
