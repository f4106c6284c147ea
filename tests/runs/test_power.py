"""The smallest difference that a test can show: simulated tests see it as often as is said; more data shows less."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from psopt.runs.planning import DifferenceSpread
from scipy.special import stdtrit


def seen(differences: Any) -> float:
    """How often a one-sided paired test over samples and wordings sees a gain: (trials, N, Q) differences by cell."""
    _, n, q = differences.shape
    by_sample, by_wording = differences.mean(axis=2), differences.mean(axis=1)
    of_samples, of_wordings = by_sample.var(axis=1, ddof=1) / n, by_wording.var(axis=1, ddof=1) / q
    variance = of_samples + of_wordings
    freedom = variance**2 / (of_samples**2 / (n - 1) + of_wordings**2 / (q - 1))
    ratios = differences.mean(axis=(1, 2)) / np.sqrt(variance)
    return float((ratios > stdtrit(freedom, 0.95)).mean())


@pytest.mark.parametrize(("n", "q", "by_wording"), [(60, 4, 0.0005), (150, 10, 0.0005), (300, 10, 0.002)])
def test_simulated_tests_see_it_in_four_of_five_cases(n: int, q: int, by_wording: float) -> None:
    of_samples, of_cells = 0.1, 0.05
    spread = DifferenceSpread(of_samples / 50 + of_cells / 50 / q, by_wording / q, 50, q)  # as measured on 50 samples
    least = spread.smallest_difference(n, 0.05)
    rng = np.random.default_rng(5)
    samples = rng.normal(0, np.sqrt(of_samples), (1000, n, 1))
    wordings = rng.normal(0, np.sqrt(by_wording), (1000, 1, q))
    noise = samples + wordings + rng.normal(0, np.sqrt(of_cells), (1000, n, q))
    assert seen(noise + least) == pytest.approx(0.8, abs=0.06)
    assert seen(noise + least / 2) < 0.5
    assert seen(noise) < 0.08


def test_more_shows_less_and_nothing_shows_nothing() -> None:
    spread = DifferenceSpread(0.0005, 0.00001, 200, 10)
    values = [spread.smallest_difference(n, 0.05) for n in (20, 50, 200, 500, 2000)]
    assert values == sorted(values, reverse=True)
    assert spread.smallest_difference(1, 0.05) == 1.0
    assert DifferenceSpread(0.0, 0.0, 50, 10).smallest_difference(50, 0.05) == 0.0
    assert DifferenceSpread(0.0016, 0.0, 100, 1).smallest_difference(400, 0.05) == pytest.approx(0.0498, abs=0.001)
