"""From answers to tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.metrics import hard_predictions, prediction_counts, prediction_distribution


def test_each_row_counts_the_answers_to_one_sample() -> None:
    counts = prediction_counts([[0, 0, 1], [2, 2, 2]], n_classes=3)
    assert counts.tolist() == [[2, 1, 0], [0, 0, 3]]
    assert counts.dtype == np.int64


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_every_integer_type_counts_alike(dtype: Any) -> None:
    """A row's first cell passes 127: the small types must not overflow."""
    predictions = np.tile(np.array([[0, 6]], dtype=dtype), (200, 1))
    assert (prediction_counts(predictions, 7) == [1, 0, 0, 0, 0, 0, 1]).all()


def test_blocks_of_rows_join_without_a_seam() -> None:
    predictions = np.random.default_rng(0).integers(4, size=(70_000, 3))
    naive = np.stack([(predictions == label).sum(axis=1) for label in range(4)], axis=1)
    assert (prediction_counts(predictions, 4) == naive).all()


def test_probabilities_average_over_the_rephrasings() -> None:
    # class 0: (.9 + .5) / 2 = .7
    assert prediction_distribution([[[0.9, 0.1], [0.5, 0.5]]]) == pytest.approx(np.array([[0.7, 0.3]]))


def test_one_hot_probabilities_give_the_counts_over_q() -> None:
    predictions = np.random.default_rng(1).integers(3, size=(20, 5))
    expected = prediction_counts(predictions, 3) / 5
    assert prediction_distribution(np.eye(3)[predictions]) == pytest.approx(expected)


def test_of_equally_probable_classes_the_first_is_chosen() -> None:
    assert hard_predictions([[[0.4, 0.4, 0.2], [0.1, 0.2, 0.7]]]).tolist() == [[0, 2]]
