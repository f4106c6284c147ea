"""S among readable answers is E25's S of them, and is said only where answers are N/A."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from psopt.answers import NoLabel
from psopt.evaluation import Predictions, na_lines, readable_sensitivity, score

from tests.evaluation.grids import grid

NA = 2
SHAKING = np.array([[0, NA, 0, NA], [1, 1, NA, NA], [0, 1, NA, 0], [NA, NA, NA, 1]])


def predictions(array: np.ndarray) -> Predictions:
    missed = tuple(NoLabel(int(row), int(column), "no JSON", "I'd say a") for row, column in np.argwhere(array == NA))
    return grid(array, [0, 1, 0, 1], no_labels=missed)


def test_it_is_the_entropy_of_readable_answers_over_samples_with_two_of_them() -> None:
    third = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3)) / math.log(3)
    assert readable_sensitivity(predictions(SHAKING)) == pytest.approx((0 + 0 + third) / 3)
    scores = score(predictions(SHAKING))
    assert scores.sensitivity_readable == pytest.approx(third / 3)
    assert scores.sensitivity > 2 * third / 3
    assert scores.to_dict()["sensitivity_readable"] == scores.sensitivity_readable
    # probabilities count as they are
    soft = dataclasses.replace(predictions(SHAKING), probabilities=np.eye(3)[SHAKING])
    assert readable_sensitivity(soft) == pytest.approx((0 + 0 + third) / 3)


@pytest.mark.parametrize(
    "array",
    [np.array([[0, 1], [1, 1], [0, 0], [0, 1]]), np.full((4, 2), NA), np.array([[0, NA], [1, NA], [NA, 0], [NA, NA]])],
    ids=["all are read", "none is read", "one of each sample is read"],
)
def test_it_is_not_said_where_there_is_nothing_to_say(array: np.ndarray) -> None:
    scores = score(predictions(array))
    assert scores.sensitivity_readable is None
    assert "sensitivity_readable" not in scores.to_dict()
    assert not any("S among" in line for line in na_lines(scores.to_dict()))


def test_screens_and_reports_say_it_with_an_answer_of_each_kind() -> None:
    scores = score(predictions(SHAKING))
    told = na_lines(scores.to_dict())
    assert told[0].startswith("S is unreliable: 50 % of the answers name no label (8 no JSON); say in the prompt")
    s, readable = (f"{100 * value:.1f} %" for value in (scores.sensitivity, scores.sensitivity_readable or 0))
    assert told[1:] == [
        f"S among the answers that were read: {readable}, in place of {s}",
        'N/A, no JSON: 8, such as "I\'d say a"',
    ]
