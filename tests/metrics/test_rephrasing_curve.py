"""How many rephrasings are enough."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from psopt.metrics import RephrasingCurve, joint_scores, rephrasing_curve

RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=40)
PREDICTIONS = np.where(RNG.random((40, 12)) < 0.7, Y[:, None], RNG.integers(4, size=(40, 12)))


def test_the_mean_is_that_over_all_subsets() -> None:
    """All 66 pairs of rephrasings, one at a time, against a large sample of them."""
    pairs = [joint_scores(PREDICTIONS[:, list(pair)], Y, 4) for pair in combinations(range(12), 2)]
    curve = rephrasing_curve(PREDICTIONS, Y, 4, sizes=[2], n_subsets=3000)
    for score in ("f1", "sensitivity", "consistency"):
        assert curve.mean[score][0] == pytest.approx(np.mean([pair[score] for pair in pairs]), abs=2e-3)


def test_all_rephrasings_are_one_subset_with_no_interval() -> None:
    curve = rephrasing_curve(PREDICTIONS, Y, 4, sizes=[6, 12])
    assert curve.mean["sensitivity"][-1] == pytest.approx(joint_scores(PREDICTIONS, Y, 4)["sensitivity"])
    assert np.isfinite(curve.low["sensitivity"]).tolist() == [True, False]


def test_sensitivity_grows_and_the_interval_of_f1_shrinks_with_the_number_of_rephrasings() -> None:
    curve = rephrasing_curve(PREDICTIONS, Y, 4)
    assert curve.sizes.tolist() == list(range(2, 13))
    assert (np.diff(curve.mean["sensitivity"]) > 0).all()
    width = curve.high["f1"] - curve.low["f1"]
    assert width[0] > width[4] > width[-2]


def test_the_interval_holds_for_new_rephrasings_not_only_for_subsets() -> None:
    """Subsets of 9 of 12 share most of their members; the width is nevertheless that of 9 fresh rephrasings."""
    rng = np.random.default_rng(1)
    right = rng.beta(2, 1, size=(40, 1))

    def answers(n: int) -> Any:
        wording = rng.normal(0, 0.2, size=(1, n))
        return np.where(rng.random((40, n)) < right + wording, Y[:, None], 3)

    fresh = [joint_scores(answers(9), Y, 4)["sensitivity"] for _ in range(500)]
    expected = np.subtract(*np.quantile(fresh, [0.975, 0.025]))
    curves = [rephrasing_curve(answers(12), Y, 4, sizes=[9], seed=seed) for seed in range(20)]
    widths = [curve.high["sensitivity"][0] - curve.low["sensitivity"][0] for curve in curves]
    assert np.mean(widths) == pytest.approx(expected, rel=0.25)


def curve_of_widths(*widths: Any) -> Any:
    zeros = np.zeros(len(widths))
    return RephrasingCurve(np.arange(2, 2 + len(widths)), {}, {"f1": zeros}, {"f1": np.array(widths)})


@pytest.mark.parametrize(
    ("widths", "enough"),
    [
        ((0.3, 0.2, 0.1, np.nan), 4),
        ((0.3, 0.1, 0.2, 0.1, np.nan), 5),  # narrow once by chance, then wide again
        ((0.1, 0.1, np.nan), 2),
        ((0.3, 0.2, np.nan), None),
        ((0.15, 0.15), None),  # not narrower than itself
    ],
)
def test_enough_is_where_the_interval_becomes_and_stays_narrow(widths: Any, enough: int | None) -> None:
    assert curve_of_widths(*widths).enough("f1", width=0.15) == enough


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sizes": [1]}, "sizes is 1"),
        ({"sizes": [13]}, "sizes holds 13"),
        ({"predictions": PREDICTIONS[:, :1]}, "predictions has one rephrasing"),
        ({"n_subsets": 1}, "n_subsets is 1"),
        ({"confidence": 0}, "confidence is 0"),
    ],
)
def test_what_gives_no_curve_is_an_error(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rephrasing_curve(**{"predictions": PREDICTIONS, "y": Y, "n_classes": 4, **changes})


def test_an_unknown_score_is_an_error() -> None:
    with pytest.raises(ValueError, match="score is 'accuracy'"):
        curve_of_widths(0.1).enough("accuracy", 0.1)
