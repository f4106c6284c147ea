"""When an answer is left to a person: how steady it is, which threshold keeps a promise, and that it is kept."""

from __future__ import annotations

import numpy as np
import pytest
from psopt.evaluation import (
    fewest_kept,
    kept_from,
    level_for_error,
    level_for_rate,
    most_error,
    risk_coverage,
    vote_is_right,
    votes,
)
from scipy.stats import binom

from tests.evaluation.grids import grid
from tests.sweeps import each


def test_s_orders_answers_and_those_without_a_label_come_last() -> None:
    answered = grid([[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 1], [2, 2, 2, 2], [1, 1, 1, 1]], [0] * 5)
    steady = votes(answered).steadiness
    assert votes(answered)[0] == ["a", "a", "a", "N/A", "b"]
    assert steady[0] == steady[4] == 1 > steady[1] > steady[2] > steady[3] == -1
    assert vote_is_right(answered).tolist() == [True, True, True, False, False]


def test_of_equally_steady_answers_the_more_probable_one_is_kept_first() -> None:
    probabilities = np.array([[[0.9, 0.1, 0]] * 2, [[0.6, 0.4, 0]] * 2, [[0.1, 0.9, 0], [0.9, 0.1, 0]]])
    steady = votes(grid([[0, 0], [0, 0], [1, 0]], probabilities=probabilities)).steadiness
    assert steady[0] > steady[1] > steady[2]


def test_equal_s_is_told_apart_by_the_share_of_the_vote() -> None:
    """Of eight answers 4 + 1 + 1 + 1 + 1 and 2 + 2 + 2 + 2 have one entropy: both products of n^n are 2^8."""
    first, second = votes(grid([[0, 0, 0, 0, 1, 2, 3, 4], [0, 0, 1, 1, 2, 2, 3, 3]], labels="abcde")).steadiness
    assert 0 < first - second < 1e-5


def test_the_bound_is_that_of_clopper_and_pearson() -> None:
    # by its definition: 3 errors of 100 or fewer have a chance of 5 % there
    assert binom.cdf(3, 100, most_error(3, 100)) == pytest.approx(0.05)
    assert most_error(0, 59) < 0.05 < most_error(0, 58)
    assert fewest_kept(0.05) == 59
    assert most_error(4, 4) == 1


def test_a_rate_is_the_most_that_is_left_and_equals_go_together() -> None:
    steady = np.array([1.0, 1.0, 1.0, 0.6, 0.6, 0.2, -1, 1.0, 1.0, 1.0])
    left = {rate: float((steady < level_for_rate(steady, rate)).mean()) for rate in (0, 0.1, 0.2, 0.39, 0.4, 0.9)}
    assert left == {0: 0.1, 0.1: 0.1, 0.2: 0.2, 0.39: 0.2, 0.4: 0.4, 0.9: 0.4}


def test_the_threshold_is_the_last_of_a_sequence_that_begins_with_the_steadiest() -> None:
    steady = np.repeat([1.0, 0.8, 0.5, 0.1], [100, 60, 40, 20])
    right = np.concatenate([np.arange(100) > 0, np.arange(60) > 1, np.arange(40) > 10, np.ones(20, bool)])
    # 1 of 100, 3 of 160, 14 of 200, 14 of 220 are wrong; at most 4.7, 4.8, 10.7 and 9.7 % at 95 %
    counted = [(of.n_kept, of.n_wrong) for of in risk_coverage(steady, right)]
    assert counted == [(100, 1), (160, 3), (200, 14), (220, 14)]
    kept = level_for_error(steady, right, 0.05)
    assert (kept.least, kept.n_kept, kept.n_wrong) == (0.8, 160, 3)
    # The last one alone would pass here, but the one before it has ended the sequence.
    assert level_for_error(steady, right, 0.1).least == 0.8
    assert level_for_error(steady, right, 0.02) is None
    assert kept_from(steady, right, 0.8) == kept


@each("levels", [5, None])
def test_a_promise_is_broken_in_one_of_twenty_cases_at_most(levels: int | None) -> None:
    """Errors fall from 25 to 5 % with steadiness; the truth of what is kept is known."""
    stream = np.random.default_rng(7)
    error, n_broken, n_promised, n = 0.12, 0, 0, 200
    for _ in range(n):
        steady = stream.random(300)
        if levels:
            steady = np.ceil(steady * levels) / levels
        kept = level_for_error(steady, stream.random(300) > 0.25 - 0.2 * steady, error)
        if kept is not None:
            n_promised += 1
            n_broken += 0.25 - 0.2 * (1 + kept.least) / 2 > error
    assert n_promised > n / 20
    assert n_broken <= 0.05 * n + 2 * np.sqrt(0.05 * 0.95 * n)
