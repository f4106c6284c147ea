"""Bootstrap intervals: what they resample, what they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.metrics import bootstrap_ci, consistency, joint_scores, micro_f1, prediction_counts, sensitivity

N_CLASSES = 4
RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=40)
PREDICTIONS = np.where(RNG.random((40, 8)) < 0.7, Y[:, None], RNG.integers(4, size=(40, 8)))


def scores_of(predictions: Any, y: Any) -> list[Any]:
    """The three scores by the functions for one data set."""
    counts = prediction_counts(predictions, N_CLASSES)
    return [micro_f1(predictions, y), sensitivity(counts), consistency(counts, y)]


def test_the_estimate_is_the_score_itself() -> None:
    intervals = bootstrap_ci(PREDICTIONS, Y, N_CLASSES, n_replicates=20)
    estimates = [interval.estimate for interval in intervals.values()]
    assert estimates == pytest.approx(scores_of(PREDICTIONS, Y), abs=1e-12)
    assert joint_scores(PREDICTIONS, Y, N_CLASSES) == pytest.approx(dict(zip(intervals, estimates, strict=True)))
    for estimate, low, high in intervals.values():
        assert 0 <= low < estimate < high <= 1


def test_a_seed_gives_the_same_intervals() -> None:
    first = bootstrap_ci(PREDICTIONS, Y, N_CLASSES, n_replicates=50, seed=0)
    assert bootstrap_ci(PREDICTIONS, Y, N_CLASSES, n_replicates=50, seed=0) == first
    assert bootstrap_ci(PREDICTIONS, Y, N_CLASSES, n_replicates=50, seed=1) != first


def test_a_kernel_a_sample_is_drawn_with_its_sample() -> None:
    kernel = np.eye(N_CLASSES) / 2 + 0.5
    together = bootstrap_ci(PREDICTIONS, Y, N_CLASSES, n_replicates=20, similarity=kernel)
    each = bootstrap_ci(PREDICTIONS, Y, N_CLASSES, n_replicates=20, similarity=np.repeat(kernel[None], len(Y), axis=0))
    assert np.array(list(each.values())) == pytest.approx(np.array(list(together.values())), abs=1e-12)


def test_one_hot_probabilities_have_the_intervals_of_predictions() -> None:
    hard = bootstrap_ci(PREDICTIONS, Y, N_CLASSES, n_replicates=50)
    soft = bootstrap_ci(np.eye(N_CLASSES)[PREDICTIONS], Y, N_CLASSES, n_replicates=50)
    assert np.array(list(soft.values())) == pytest.approx(np.array(list(hard.values())), abs=1e-12)


def test_both_is_wider_than_either() -> None:
    widths = {}
    for resample in ("samples", "rephrasings", "both"):
        _, low, high = bootstrap_ci(PREDICTIONS, Y, N_CLASSES, resample=resample)["f1"]
        widths[resample] = high - low
    assert widths["both"] > max(widths["samples"], widths["rephrasings"])


def test_more_confidence_is_wider() -> None:
    _, low, high = bootstrap_ci(PREDICTIONS, Y, N_CLASSES, confidence=0.99)["sensitivity"]
    _, inner_low, inner_high = bootstrap_ci(PREDICTIONS, Y, N_CLASSES, confidence=0.5)["sensitivity"]
    assert low < inner_low < inner_high < high


def test_a_constant_answer_has_intervals_of_width_zero() -> None:
    intervals = bootstrap_ci(np.zeros((10, 4), dtype=int), [0] * 10, 2)
    assert [tuple(interval) for interval in intervals.values()] == [(1, 1, 1), (0, 0, 0), (1, 1, 1)]


def test_intervals_cover_the_sensitivity_of_the_population() -> None:
    """60 experiments whose expected S is known from 2,000 others: the 95 % interval holds it in most of them.

    Unmoved percentile intervals cover it in about 80 %: resampled answers repeat themselves.
    """
    rng = np.random.default_rng(0)

    def experiment() -> tuple[Any, Any]:
        y = rng.integers(3, size=50)
        right = rng.beta(2, 1, size=(50, 1))
        return np.where(rng.random((50, 10)) < right, y[:, None], rng.integers(4, size=(50, 10))), y

    expected = np.mean([sensitivity(prediction_counts(experiment()[0], 4)) for _ in range(2000)])
    covered = 0
    for seed in range(60):
        _, low, high = bootstrap_ci(*experiment(), 4, n_replicates=200, seed=seed)["sensitivity"]
        covered += int(low <= expected <= high)
    assert covered >= 53


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"predictions": PREDICTIONS[:1], "y": Y[:1]}, "predictions has one sample"),
        ({"predictions": PREDICTIONS[:, :1]}, "predictions has one rephrasing"),
        ({"predictions": np.full((40, 8, 3), 1 / 3)}, "predictions has 3 classes"),
        ({"predictions": np.ones((40, 8, 4))}, "predictions holds floats"),
        ({"resample": "everything"}, "resample is 'everything'"),
        ({"n_replicates": 0}, "n_replicates is 0"),
        ({"confidence": 1}, "confidence is 1"),
    ],
)
def test_what_cannot_be_resampled_is_an_error(changes: dict[str, Any], argument: str) -> None:
    arguments = {"predictions": PREDICTIONS, "y": Y, "n_classes": N_CLASSES, **changes}
    with pytest.raises(ValueError, match=argument):
        bootstrap_ci(**arguments)


def test_one_rephrasing_can_still_be_resampled_over_samples() -> None:
    _, low, high = bootstrap_ci(PREDICTIONS[:, :1], Y, N_CLASSES, resample="samples")["f1"]
    assert low < high
