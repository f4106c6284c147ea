"""What holds for every table of answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from psopt.metrics import (
    consistency,
    joint_scores,
    pairwise_consistency,
    prediction_counts,
    prediction_distribution,
    sample_consistency,
    sample_sensitivity,
    sensitivity,
)


@st.composite
def answered(draw: Any) -> tuple[Any, Any, Any]:
    """Predictions (N, Q), labels (N,) and the number of classes; N and Q may be 1, and N/A may be true."""
    n_classes = draw(st.integers(2, 6))
    n_samples, n_rephrasings = draw(st.integers(1, 12)), draw(st.integers(1, 8))
    label = st.integers(0, n_classes - 1)
    predictions = draw(st_numpy.arrays(np.int64, (n_samples, n_rephrasings), elements=label))
    return predictions, draw(st_numpy.arrays(np.int64, n_samples, elements=label)), n_classes


@st.composite
def soft_answered(draw: Any) -> tuple[Any, Any]:
    """Probabilities (N, Q, C) and labels (N,)."""
    predictions, y, n_classes = draw(answered())
    weights = draw(st_numpy.arrays(np.float64, (*predictions.shape, n_classes), elements=st.floats(0, 1)))
    weights[..., 0] += 1e-3  # a row needs some mass
    return weights / weights.sum(axis=-1, keepdims=True), y


@given(soft_answered(), st.booleans())
def test_the_fast_consistency_equals_the_pairwise_one(case: Any, self_pairs: bool) -> None:
    probabilities, y = case
    counts = prediction_counts(probabilities.argmax(axis=2), probabilities.shape[2])
    for table in (counts, prediction_distribution(probabilities)):
        by_class, by_sample = consistency(table, y, average=None, self_pairs=self_pairs), sample_consistency(table, y)
        pairs = []
        for label in np.unique(y):
            matrix = pairwise_consistency(table[y == label])
            kept = matrix if self_pairs else matrix[~np.eye(len(matrix), dtype=bool)]
            assert by_class[label] == pytest.approx(kept.mean() if kept.size else np.nan, abs=1e-12, nan_ok=True)
            assert by_sample[y == label] == pytest.approx(matrix.mean(axis=1), abs=1e-12)
            pairs += kept.ravel().tolist()
        pooled = consistency(table, y, self_pairs=self_pairs)
        assert pooled == pytest.approx(np.mean(pairs) if pairs else np.nan, abs=1e-12, nan_ok=True)
    scores = joint_scores(probabilities, y, probabilities.shape[2])
    assert all(0 <= value <= 1 for value in scores.values())


@given(answered(), st.randoms(use_true_random=False))
def test_counts_shares_and_renamed_classes_say_the_same_and_s_is_zero_exactly_for_one_label(
    case: Any, random: Any
) -> None:
    predictions, y, n_classes = case
    counts = prediction_counts(predictions, n_classes)
    values = sample_sensitivity(counts)
    assert ((values >= 0) & (values <= 1)).all()
    assert ((values == 0) == (predictions == predictions[:, :1]).all(axis=1)).all()
    shares = prediction_distribution(np.eye(n_classes)[predictions])
    assert sensitivity(shares) == pytest.approx(sensitivity(counts), abs=1e-12)
    assert consistency(shares, y) == pytest.approx(consistency(counts, y), abs=1e-12)
    assert sample_consistency(shares, y) == pytest.approx(sample_consistency(counts, y), abs=1e-12)
    # N/A included: as a class it is like any other
    names = np.array(random.sample(range(n_classes), n_classes))
    expected = joint_scores(predictions, y, n_classes)
    assert joint_scores(names[predictions], names[y], n_classes) == pytest.approx(expected, abs=1e-12)
