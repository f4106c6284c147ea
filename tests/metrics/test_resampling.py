"""What is drawn anew: bootstrap intervals, the curve over numbers of rephrasings, and the predictors of appendix A."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from psopt.metrics import (
    RephrasingCurve,
    bootstrap_ci,
    joint_scores,
    noised_predictions,
    prediction_counts,
    reference_scores,
    rephrasing_curve,
    sample_consistency,
    sensitivity,
)

from tests.sweeps import each

C = 4
RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=40)
PREDICTIONS = np.where(RNG.random((40, 12)) < 0.7, Y[:, None], RNG.integers(C, size=(40, 12)))
MANY = np.random.default_rng(0).integers(3, size=300)
PERFECT = np.tile(MANY[:, None], (1, 40))
SCORES = ("f1", "sensitivity", "consistency")


def test_intervals_cover_the_sensitivity_of_the_population() -> None:
    """30 experiments whose expected S is known from 300 others: the 95 % interval holds it in most of them.

    Unmoved percentile intervals cover it in about 80 %: resampled answers repeat themselves.
    """
    rng = np.random.default_rng(0)

    def experiment() -> tuple[Any, Any]:
        y = rng.integers(3, size=50)
        right = rng.beta(2, 1, size=(50, 1))
        return np.where(rng.random((50, 10)) < right, y[:, None], rng.integers(4, size=(50, 10))), y

    expected = np.mean([sensitivity(prediction_counts(experiment()[0], 4)) for _ in range(300)])
    covered = 0
    for seed in range(30):
        _, low, high = bootstrap_ci(*experiment(), 4, n_replicates=50, seed=seed)["sensitivity"]
        covered += int(low <= expected <= high)
    assert covered >= 26


def test_the_mean_of_the_curve_is_that_over_all_subsets() -> None:
    """All 66 pairs of rephrasings, one at a time, against a large sample of them; all twelve are one subset."""
    pairs = [joint_scores(PREDICTIONS[:, list(pair)], Y, C) for pair in combinations(range(12), 2)]
    curve = rephrasing_curve(PREDICTIONS, Y, C, sizes=[2, 12], n_subsets=400)
    whole = joint_scores(PREDICTIONS, Y, C)
    for score in SCORES:
        assert curve.mean[score][0] == pytest.approx(np.mean([pair[score] for pair in pairs]), abs=6e-3)
        assert curve.mean[score][1] == pytest.approx(whole[score])
    assert np.isfinite(curve.low["sensitivity"]).tolist() == [True, False]
    by_default = rephrasing_curve(PREDICTIONS, Y, C)
    assert by_default.sizes.tolist() == list(range(2, 13))
    assert (np.diff(by_default.mean["sensitivity"]) > 0).all()
    width = by_default.high["f1"] - by_default.low["f1"]
    assert width[0] > width[4] > width[-2]


@each(
    "widths, enough",
    [
        ((0.3, 0.2, 0.1, np.nan), 4),
        ((0.3, 0.1, 0.2, 0.1, np.nan), 5),  # narrow once by chance, then wide again
        ((0.1, 0.1, np.nan), 2),
        ((0.3, 0.2, np.nan), None),
        ((0.15, 0.15), None),  # not narrower than itself
    ],
)
def test_enough_is_where_the_interval_becomes_and_stays_narrow(widths: tuple[float, ...], enough: int | None) -> None:
    sizes, low = np.arange(2, 2 + len(widths)), np.zeros(len(widths))
    curve = RephrasingCurve(sizes, {}, {"f1": low}, {"f1": np.array(widths)})
    assert curve.enough("f1", width=0.15) == enough


def test_the_references_stand_where_appendix_a_says() -> None:
    """The random predictor has S near 1 and, like all random samples of a class, high consistency; F1 unmasks it."""
    found = reference_scores(PERFECT, MANY, C)
    assert list(found) == ["predictor", "half_noised", "random"]
    assert (found["predictor"].sensitivity, found["predictor"].f1) == (0, 1)
    assert 0.5 < found["half_noised"].sensitivity < 0.9
    random = found["random"]
    assert random.sensitivity > 0.95
    assert random.consistency > 0.8
    assert random.f1 == pytest.approx(1 / 4, abs=0.02)
    # the axes of the plot come along
    assert random.sample_sensitivity.shape == random.sample_consistency.shape == MANY.shape
    assert random.sample_sensitivity.mean() == pytest.approx(random.sensitivity)
    counts = np.eye(C, dtype=int)[noised_predictions(PERFECT, C, 1.0)].sum(axis=1)
    assert (random.sample_consistency == sample_consistency(counts, MANY)).all()
    itself = reference_scores(PREDICTIONS, Y, C)["predictor"]
    assert (itself.f1, itself.sensitivity, itself.consistency) == tuple(joint_scores(PREDICTIONS, Y, C).values())


def test_half_of_the_answers_are_redrawn_or_a_share_between_none_and_all() -> None:
    # a redrawn answer is the old one by chance 1 in 4: 1/2 * 3/4 of the answers change
    assert (noised_predictions(PERFECT, C) != PERFECT).mean() == pytest.approx(3 / 8, abs=0.02)
    assert (noised_predictions(PERFECT, C, share=0) == PERFECT).all()
