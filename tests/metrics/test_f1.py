"""F1 over all answers, by label and by rephrasing."""

import numpy as np
import pytest
from psopt.metrics import class_f1, macro_f1, micro_f1
from sklearn import metrics as sklearn_metrics

RNG = np.random.default_rng(0)
Y = RNG.integers(4, size=50)
PREDICTIONS = np.where(RNG.random((50, 6)) < 0.6, Y[:, None], RNG.integers(5, size=(50, 6)))
FLAT = np.repeat(Y, 6), PREDICTIONS.ravel()


def test_hand_worked_values() -> None:
    # true 0: answers 0 0 0 1; true 1: 1 1 0 2 (2 is N/A). Right: 5 of 8.
    # label 0: TP 3, FP 1, FN 1 -> 6/8; label 1: TP 2, FP 1, FN 2 -> 4/7; N/A: TP 0, FP 1 -> 0
    predictions, y = [[0, 0, 0, 1], [1, 1, 0, 2]], [0, 1]
    assert micro_f1(predictions, y) == 5 / 8
    assert class_f1(predictions, y) == pytest.approx([6 / 8, 4 / 7, 0])
    assert macro_f1(predictions, y) == pytest.approx((6 / 8 + 4 / 7) / 3)
    assert macro_f1(predictions, y, labels=[0, 1]) == pytest.approx((6 / 8 + 4 / 7) / 2)


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
    assert macro_f1(PREDICTIONS, Y, labels=[0, 9]) == pytest.approx(theirs)


def test_only_absent_labels_are_nan() -> None:
    assert np.isnan(micro_f1(PREDICTIONS, Y, labels=[9]))
    assert np.isnan(macro_f1(PREDICTIONS, Y, labels=[9]))
