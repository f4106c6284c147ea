"""F1, flips and damage, and measures of other authors: by rephrasing, by pair of answers, by likelihood."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from psopt.metrics import (
    class_f1,
    macro_f1,
    micro_f1,
    posix,
    prompt_f1,
    prompt_sensi_score,
    rephrasing_damage,
    sample_posix,
    sample_prompt_sensi_score,
    spread,
)
from sklearn import metrics as sklearn_metrics

RNG = np.random.default_rng(0)
Y = RNG.integers(4, size=50)
PREDICTIONS = np.where(RNG.random((50, 6)) < 0.6, Y[:, None], RNG.integers(5, size=(50, 6)))
FLAT = np.repeat(Y, 6), PREDICTIONS.ravel()


@pytest.mark.parametrize("labels", [None, [0, 1, 2, 3], [2], [3, 1]])
def test_scikit_learn_agrees(labels: list[int] | None) -> None:
    for average, ours in (("micro", micro_f1), ("macro", macro_f1), (None, class_f1)):
        theirs = sklearn_metrics.f1_score(*FLAT, labels=labels, average=average)
        assert ours(PREDICTIONS, Y, labels) == pytest.approx(theirs, abs=1e-14)


def test_an_absent_label_is_nan_and_leaves_the_mean_alone() -> None:
    """Label 9 is never true nor predicted: it has no F1, which must not count as 0 (zero_division=nan)."""
    values = class_f1(PREDICTIONS, Y, labels=[0, 9])
    assert np.isnan(values[1])
    assert macro_f1(PREDICTIONS, Y, labels=[0, 9]) == values[0]
    theirs = sklearn_metrics.f1_score(*FLAT, labels=[0, 9], average="macro", zero_division=np.nan)
    assert values[0] == pytest.approx(theirs)
    assert np.isnan(micro_f1(PREDICTIONS, Y, labels=[9]))
    assert np.isnan(macro_f1(PREDICTIONS, Y, labels=[9]))


# four samples, three rephrasings: accuracies 4/4, 2/4, 3/4
RIGHT_OR_NOT = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 0], [0, 1, 0]])
TRUTH = np.array([0, 1, 1, 0])


def test_accuracy_by_rephrasing_its_spread_and_pss_by_hand() -> None:
    assert prompt_f1(RIGHT_OR_NOT, TRUTH).tolist() == [1, 0.5, 0.75]
    assert spread(RIGHT_OR_NOT, TRUTH) == 0.5
    # against the others' means .625, .875 and .75
    assert rephrasing_damage(RIGHT_OR_NOT, TRUTH) == pytest.approx([-0.375, 0.375, 0])
    # sample by sample k of 3 right: k (3 - k) pairs of 3 differ
    assert sample_prompt_sensi_score(TRUTH[:, None] == RIGHT_OR_NOT) == pytest.approx([0, 2 / 3, 2 / 3, 2 / 3])
    # (1, 1, 0): pairs differ 0, 1, 1 -> 2/3. (.2, .5, .9): .3 + .7 + .4 = 1.4 -> 1.4/3
    scores = [[1.0, 1.0, 0.0], [0.2, 0.5, 0.9]]
    assert sample_prompt_sensi_score(scores) == pytest.approx([2 / 3, 1.4 / 3])
    assert prompt_sensi_score(scores) == pytest.approx(3.4 / 6)
    many = RNG.random((20, 9))
    naive = [np.mean([abs(a - b) for a, b in combinations(row, 2)]) for row in many]
    assert sample_prompt_sensi_score(many) == pytest.approx(naive, abs=1e-14)


def test_posix_by_hand_and_as_its_double_sum() -> None:
    # answer 0: |-1 - -1| + |-3 - -1| = 2 over 2 tokens = 1; answer 1: |-5 - -2| = 3 over 1 token; (1 + 3) / 2 = 2
    assert posix([[[-1.0, -5.0], [-3.0, -2.0]]], [[2, 1]]) == 2
    log_probabilities, lengths = -RNG.random((4, 5, 5)), RNG.integers(1, 6, size=(4, 5))
    naive = [
        sum(abs(p[i, j] - p[j, j]) / length[j] for i in range(5) for j in range(5)) / (5 * 4)
        for p, length in zip(log_probabilities, lengths, strict=True)
    ]
    assert sample_posix(log_probabilities, lengths) == pytest.approx(naive)
    assert posix(log_probabilities, lengths) == pytest.approx(np.mean(naive))


@pytest.mark.parametrize(
    ("measure", "arguments", "message"),
    [
        (rephrasing_damage, ([[0], [1]], [0, 1]), "predictions has one rephrasing"),
        (prompt_sensi_score, ([[1], [0]],), "^scores "),
        (posix, ([[[-1.0, -5.0]]], [[2, 1]]), "^log_probabilities "),
        (posix, ([[[1.0, -5.0], [-1.0, -1.0]]], [[2, 1]]), "^log_probabilities "),
        (posix, ([[[-1.0, -5.0], [-1.0, -1.0]]], [[2]]), "^lengths "),
    ],
)
def test_what_cannot_be_measured_is_an_error_that_names_the_argument(
    measure: Any, arguments: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        measure(*arguments)
