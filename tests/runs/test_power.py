"""The smallest difference that a test can show: simulated tests see it as often as is said; more data shows less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psopt.metrics import compare_scores
from psopt.runs.planning import (
    DifferenceSpread,
    ShownDifferences,
    measured_spread,
    plausible_spread,
    smallest_difference,
    spread_of_run,
)
from scipy.special import stdtrit

if TYPE_CHECKING:
    from pathlib import Path


def seen(differences: Any) -> float:
    """How often a paired test over samples and wordings sees a difference: (trials, N, Q) differences by cell."""
    _, n, q = differences.shape
    by_sample, by_wording = differences.mean(axis=2), differences.mean(axis=1)
    of_samples, of_wordings = by_sample.var(axis=1, ddof=1) / n, by_wording.var(axis=1, ddof=1) / q
    variance = of_samples + of_wordings
    freedom = variance**2 / (of_samples**2 / (n - 1) + of_wordings**2 / (q - 1))
    ratios = np.abs(differences.mean(axis=(1, 2))) / np.sqrt(variance)
    return float((ratios > stdtrit(freedom, 0.975)).mean())


@pytest.mark.parametrize(("n", "q", "by_wording"), [(60, 4, 0.0005), (150, 10, 0.0005), (300, 10, 0.002)])
def test_simulated_tests_see_it_in_four_of_five_cases(n: int, q: int, by_wording: float) -> None:
    spread = DifferenceSpread(0.1, by_wording, 0.05)
    least = smallest_difference(spread, n, q)
    rng = np.random.default_rng(5)
    shape = (1000, n, q)
    samples = rng.normal(0, np.sqrt(spread.samples), (1000, n, 1))
    wordings = rng.normal(0, np.sqrt(by_wording), (1000, 1, q))
    noise = samples + wordings + rng.normal(0, np.sqrt(spread.cells), shape)
    assert seen(noise + least) == pytest.approx(0.8, abs=0.05)
    assert seen(noise + least / 2) < 0.4
    assert seen(noise) < 0.08


def grids(rng: Any, n: int, q: int, fixed: float) -> Any:
    """Right (0) and wrong (1) answers to two prompts: samples differ in difficulty, some are fixed by the second."""
    difficulty = rng.beta(0.4, 0.8, (n, 1))
    before = rng.random((n, q)) < difficulty
    is_mended = rng.random((n, 1)) < fixed
    after = np.where(is_mended, False, rng.random((n, q)) < difficulty)
    return before.astype(np.int64), after.astype(np.int64), np.zeros(n, dtype=np.int64)


def test_the_paired_test_of_psopt_sees_what_was_measured_to_be_seen() -> None:
    rng = np.random.default_rng(8)
    first, second, truth = grids(rng, 4000, 5, 0.15)
    spread = measured_spread(first, second, truth, 3)["f1"]
    gain = float(first.mean() - second.mean())
    n = next(n for n in range(40, 1000, 20) if smallest_difference(spread, n, 5) <= gain)
    tests = (grids(rng, n, 5, 0.15) for _ in range(25))
    p_values = [compare_scores(before, after, truth, 3)["f1"].p_value for before, after, truth in tests]
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.8, abs=0.2)


def test_spread_is_that_of_hand_calculation() -> None:
    truth = np.zeros(4, dtype=np.int64)
    first = np.array([[0, 0], [1, 1], [0, 0], [1, 1]])
    second = np.array([[0, 0], [0, 0], [0, 0], [1, 0]])
    spread = measured_spread(first, second, truth, 2)
    # Differences in F1 are (0 0), (1 1), (0 0), (0 1). Row means 0, 1, 0, .5 have variance 11/48, column means 1/4 and
    # 1/2 have 1/32; left over are +-1/8 in three rows and +-3/8 in the last: (6/64 + 18/64) / 3 = 1/8.
    assert spread["f1"].cells == pytest.approx(1 / 8)
    assert spread["f1"].samples == pytest.approx(11 / 48 - 1 / 16)
    assert spread["f1"].wordings == 0.0  # 1/32 less 1/8 / 4
    one_wording = measured_spread(first[:, :1], second[:, :1], truth, 2)
    assert one_wording["f1"] == DifferenceSpread(0.25, 0.0)


def test_a_run_s_spread_is_that_of_its_prompts_against_the_baseline(tmp_path: Path) -> None:
    first, second, truth = grids(np.random.default_rng(3), 20, 3, 0.4)
    (tmp_path / "predictions").mkdir()
    names = ["right", "wrong", "N/A"]
    ids = [f"val{number}" for number in range(20)]
    for name, answers in (("a", first), ("b", second), ("c", second)):
        np.savez(tmp_path / "predictions" / f"{name}.npz", val=answers, val_ids=ids, labels=names)
    labels = dict.fromkeys(ids, "right")
    spread = spread_of_run(tmp_path, "a", labels)
    assert spread
    assert spread["f1"].samples == pytest.approx(measured_spread(first, second, truth, 3)["f1"].samples)
    assert spread_of_run(tmp_path, "d", labels) is None
    (tmp_path / "predictions" / "b.npz").write_bytes(b"PK")
    assert spread_of_run(tmp_path, "a", labels) is None


def test_more_shows_less_and_nothing_shows_nothing() -> None:
    spread = plausible_spread(7)
    sizes = [(20, 2), (50, 3), (200, 5), (500, 10), (2000, 10)]
    shown = [ShownDifferences.of(n, q, spread) for n, q in sizes]
    for measure in ("f1", "sensitivity"):
        values = [getattr(one, measure) for one in shown]
        assert values == sorted(values, reverse=True)
    assert ShownDifferences.of(1, 10, spread).f1 == 1.0
    assert smallest_difference(DifferenceSpread(0.0, 0.0), 50, 10) == 0.0
    assert smallest_difference(DifferenceSpread(0.16, 0.1), 100, 1) == smallest_difference(
        DifferenceSpread(0.16, 0.0), 100, 10
    )
    # docs/guides/how-sure.md: +4.5 points of F1 are seen in 58 % of cases at 200 samples, in 94 % at 500
    assert 0.03 < shown[3].f1 < 0.07
