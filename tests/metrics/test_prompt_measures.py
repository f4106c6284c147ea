"""Measures of other authors on the same predictions: by rephrasing, by pair of answers, by likelihood."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from psopt.metrics import posix, prompt_f1, prompt_sensi_score, sample_posix, sample_prompt_sensi_score, spread

# four samples, three rephrasings: accuracies 4/4, 2/4, 3/4
PREDICTIONS = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 0], [0, 1, 0]])
Y = np.array([0, 1, 1, 0])


def test_accuracy_by_rephrasing_and_its_spread() -> None:
    assert prompt_f1(PREDICTIONS, Y).tolist() == [1, 0.5, 0.75]
    assert spread(PREDICTIONS, Y) == 0.5


def test_pss_by_hand() -> None:
    # (1, 1, 0): pairs differ 0, 1, 1 -> 2/3. (.2, .5, .9): .3 + .7 + .4 = 1.4 -> 1.4/3
    scores = [[1.0, 1.0, 0.0], [0.2, 0.5, 0.9]]
    assert sample_prompt_sensi_score(scores) == pytest.approx([2 / 3, 1.4 / 3])
    assert prompt_sensi_score(scores) == pytest.approx(3.4 / 6)


def test_pss_equals_the_sum_over_pairs() -> None:
    scores = np.random.default_rng(0).random((20, 9))
    naive = [np.mean([abs(a - b) for a, b in combinations(row, 2)]) for row in scores]
    assert sample_prompt_sensi_score(scores) == pytest.approx(naive, abs=1e-14)


def test_pss_reads_what_is_right() -> None:
    """Sample by sample k of 3 right: k (3 - k) pairs of 3 differ."""
    right = Y[:, None] == PREDICTIONS
    assert right.sum(axis=1).tolist() == [3, 2, 2, 2]
    assert sample_prompt_sensi_score(right) == pytest.approx([0, 2 / 3, 2 / 3, 2 / 3])


def test_posix_by_hand() -> None:
    # answer 0: |-1 - -1| + |-3 - -1| = 2 over 2 tokens = 1; answer 1: |-5 - -2| = 3 over 1 token; (1 + 3) / 2 = 2
    log_probabilities = [[[-1.0, -5.0], [-3.0, -2.0]]]
    assert posix(log_probabilities, [[2, 1]]) == 2


def test_posix_equals_its_double_sum() -> None:
    rng = np.random.default_rng(0)
    log_probabilities, lengths = -rng.random((4, 5, 5)), rng.integers(1, 6, size=(4, 5))
    naive = [
        sum(abs(p[i, j] - p[j, j]) / length[j] for i in range(5) for j in range(5)) / (5 * 4)
        for p, length in zip(log_probabilities, lengths, strict=True)
    ]
    assert sample_posix(log_probabilities, lengths) == pytest.approx(naive)
    assert posix(log_probabilities, lengths) == pytest.approx(np.mean(naive))


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: prompt_sensi_score([[1], [0]]), "scores"),
        (lambda: prompt_sensi_score([[1.2, 0]]), "scores"),
        (lambda: prompt_sensi_score([[math.nan, 0]]), "scores"),
        (lambda: posix([[[-1.0, -5.0]]], [[2, 1]]), "log_probabilities"),
        (lambda: posix([[[1.0, -5.0], [-1.0, -1.0]]], [[2, 1]]), "log_probabilities"),
        (lambda: posix([[[-math.inf, -5.0], [-1.0, -1.0]]], [[2, 1]]), "log_probabilities"),
        (lambda: posix([[[-1.0, -5.0], [-1.0, -1.0]]], [[2]]), "lengths"),
        (lambda: posix([[[-1.0, -5.0], [-1.0, -1.0]]], [[2, 0]]), "lengths"),
    ],
)
def test_what_cannot_be_measured_is_an_error_that_names_the_argument(call: Any, argument: str) -> None:
    with pytest.raises(ValueError, match=f"^{argument} "):
        call()
