"""Every measure against hand-worked values, the paper, and what others compute."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from psopt.metrics import (
    class_f1,
    consistency,
    hard_predictions,
    macro_f1,
    micro_f1,
    pairwise_consistency,
    posix,
    prediction_counts,
    prompt_f1,
    prompt_sensi_score,
    rephrasing_damage,
    sample_consistency,
    sample_posix,
    sample_prompt_sensi_score,
    sample_sensitivity,
    sensitivity,
    spread,
    uncertainty,
)
from sklearn import metrics as sklearn_metrics

from tests.sweeps import each


def test_counts_are_joined_without_a_seam_and_of_equally_probable_answers_the_first_is_chosen() -> None:
    predictions = np.random.default_rng(0).integers(4, size=(70_000, 3))  # several blocks of rows
    naive = np.stack([(predictions == label).sum(axis=1) for label in range(4)], axis=1)
    assert (prediction_counts(predictions, 4) == naive).all()
    assert hard_predictions([[[0.4, 0.4, 0.2], [0.1, 0.2, 0.7]]]).tolist() == [[0, 2]]


def test_hand_worked_values() -> None:
    # (2/4, 1/4, 1/4): 1/2 ln 2 + 2 * 1/4 ln 4 = 1.5 ln 2 nats; over ln 4 = 2 ln 2 that is 0.75
    # (4, 0, 0, 0): 0.  (1, 1, 1, 1): ln 4 / ln 4 = 1.  (2, 2, 0, 0): ln 2 / ln 4 = 0.5
    counts = [[2, 1, 1, 0], [4, 0, 0, 0], [1, 1, 1, 1], [2, 2, 0, 0]]
    assert sample_sensitivity(counts) == pytest.approx([0.75, 0, 1, 0.5], abs=1e-15)
    assert sensitivity(counts) == pytest.approx(2.25 / 4, abs=1e-15)
    # N/A is a class: (2/3, 1/3): 2/3 ln 3/2 + 1/3 ln 3 = .27031 + .36620 = .63651; / ln 3 (1.09861) = .57938
    assert sensitivity([[2, 0, 1]]) == pytest.approx(0.57938, abs=1e-5)
    nats = [1.5 * math.log(2), 0, math.log(4), math.log(2)]
    assert sample_sensitivity(counts, normalize=False) == pytest.approx(nats, abs=1e-15)
    for steady in ([[4, 0]], [[1.0, 0.0]]):
        assert not np.signbit(sample_sensitivity(steady)).any(), "no negative zero is shown"
    assert sensitivity([[8, 0]], correction="jackknife") == 0


# E25, appendix B, after the fix: correct answers out of 30, and S, with C = 7 (TREC's six classes and N/A)
CORRECT = [29, 30, 27, 26, 15, 27, 24, 29, 26, 26]
PUBLISHED = [0.08, 0, 0.20, 0.27, 0.54, 0.17, 0.36, 0.08, 0.20, 0.24]


def test_the_papers_correct_answers_bound_its_sensitivities() -> None:
    """S is least if all wrong answers are one class, and greatest if they are spread over the other six.

    Of 30 right it is 0. 29 right leave one wrong answer: (29/30 ln 30/29 + 1/30 ln 30) / ln 7 = .0751.
    """
    for correct, published in zip(CORRECT, PUBLISHED, strict=True):
        wrong = 30 - correct
        least = sensitivity([[correct, wrong, 0, 0, 0, 0, 0]])
        greatest = sensitivity([[correct, *(wrong // 6 + (label < wrong % 6) for label in range(6))]])
        assert least - 0.005 <= published <= greatest + 0.005


def test_uncertainty_is_the_entropy_of_one_answer_and_a_sure_model_may_be_sensitive() -> None:
    # (1/2, 1/2): ln 2; a sure answer: 0; normalised by ln 2
    probabilities = [[[0.5, 0.5], [1.0, 0.0]]]
    assert uncertainty(probabilities) == pytest.approx(np.array([[math.log(2), 0]]))
    assert uncertainty(probabilities, normalize=True) == pytest.approx(np.array([[1, 0]]))
    assert uncertainty([[0.5, 0.5]]) == pytest.approx([math.log(2)])
    predictions = np.array([[0, 1], [1, 0]])
    assert (uncertainty(np.eye(2)[predictions]) == 0).all()
    assert sensitivity(prediction_counts(predictions, 2)) == 1


# Q = 4. Class 0: samples (4 0 0), (2 2 0), (4 0 0); class 1: (0 3 1), (0 1 3); class 2 has none.
OF_CLASSES = np.array([[4, 0, 0], [2, 2, 0], [4, 0, 0], [0, 3, 1], [0, 1, 3]])
Y = np.array([0, 0, 0, 1, 1])
# Class 0: TVD between the first two is (|4 - 2| + |0 - 2|) / 4 / 2 = 1/2, between the first and the third 0. Over 9
# ordered pairs: 4 of distance 1/2, so C = 1 - 2/9. Class 1: TVD = (2 + 2) / 4 / 2 = 1/2, over 4 pairs: 1 - 1/4.
BY_CLASS = [1 - 2 / 9, 3 / 4]


def random_case(seed: int, n_rephrasings: int = 7) -> tuple[Any, Any]:
    """Counts of 60 samples, and labels of which one never occurs."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(n_rephrasings, rng.dirichlet(np.ones(5)), size=60), rng.integers(4, size=60)


@pytest.mark.parametrize("table", [OF_CLASSES, OF_CLASSES / 4], ids=["counts", "probabilities"])
def test_hand_worked_values_of_c(table: Any) -> None:
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
    # N/A is part of the distance: the same right answers, and half of all is N/A for one and wrong for the other
    assert consistency([[2, 0, 2], [2, 2, 0]], [0, 0], self_pairs=False) == 0.5
    assert pairwise_consistency(table[:3]).tolist() == [[1, 0.5, 1], [0.5, 1, 0.5], [1, 0.5, 1]]


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


RNG = np.random.default_rng(0)
TRUE = RNG.integers(4, size=50)
PREDICTIONS = np.where(RNG.random((50, 6)) < 0.6, TRUE[:, None], RNG.integers(5, size=(50, 6)))
FLAT = np.repeat(TRUE, 6), PREDICTIONS.ravel()


@each("labels", [None, [0, 1, 2, 3], [2], [3, 1]])
def test_scikit_learn_agrees(labels: list[int] | None) -> None:
    for average, ours in (("micro", micro_f1), ("macro", macro_f1), (None, class_f1)):
        theirs = sklearn_metrics.f1_score(*FLAT, labels=labels, average=average)
        assert ours(PREDICTIONS, TRUE, labels) == pytest.approx(theirs, abs=1e-14)


def test_an_absent_label_is_nan_and_leaves_the_mean_alone() -> None:
    """Label 9 is never true nor predicted: it has no F1, which must not count as 0 (zero_division=nan)."""
    values = class_f1(PREDICTIONS, TRUE, labels=[0, 9])
    assert np.isnan(values[1])
    assert macro_f1(PREDICTIONS, TRUE, labels=[0, 9]) == values[0]
    assert np.isnan([micro_f1(PREDICTIONS, TRUE, labels=[9]), macro_f1(PREDICTIONS, TRUE, labels=[9])]).all()


def test_hashed_names_are_classes_like_any_others() -> None:
    hashed = np.array([5, 2**40, 2**33, 7, 10**9])
    of_two = class_f1(hashed[PREDICTIONS], hashed[TRUE], [int(hashed[3]), int(hashed[1])])
    assert (of_two == class_f1(PREDICTIONS, TRUE, [3, 1])).all()
    assert macro_f1(hashed[PREDICTIONS], hashed[TRUE]) == pytest.approx(macro_f1(PREDICTIONS, TRUE))


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
