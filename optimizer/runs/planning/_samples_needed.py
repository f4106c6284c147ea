"""How many test samples would settle what the gate has left open."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation import compare_paired
from psopt.search import rounded_up
from psopt.search.gating import BOTH, F1_ALONE, MARGIN_OF_S

if TYPE_CHECKING:
    from psopt.evaluation import Predictions
    from psopt.search.gating import NomineeTest

POWER = 0.8
"""How often the test should see the difference: Cohen's convention (Statistical Power Analysis, 1988, section 2.4)."""
_MOST = 100_000  # nobody labels more for a test, so a larger number is of no use
_SIZES = np.unique(np.geomspace(2, _MOST, 1500).round())  # in steps of a percent: two digits are shown


def samples_to_see(
    difference: float, level: float, of_samples: float, of_wordings: float, n_samples: int, wordings_df: int
) -> float:
    """Return on about how many samples a one-sided paired test detects a true difference in 80 % of cases.

    `of_samples` and `of_wordings` are the parts of its variance on `n_samples`, and `wordings_df` the degrees of
    freedom of the latter. It does not shrink with more samples, and may alone be too much: then the number is infinite.
    Degrees of freedom are Satterthwaite's (Biometrics Bulletin 1946); the quantile of the central t replaces that of
    the non-central one, as is usual.
    """
    from scipy.special import stdtrit  # quantiles of t, without the half second that importing scipy.stats takes

    if difference <= 0:
        return math.inf
    if not of_samples + of_wordings:
        return 0.0
    # Every size is looked at: with more samples the variance falls, but so do the degrees of freedom.
    by_samples = of_samples * n_samples / _SIZES
    variance = by_samples + of_wordings
    freedom = variance**2 / (by_samples**2 / (_SIZES - 1) + of_wordings**2 / wordings_df)
    reach = (stdtrit(freedom, 1 - level) + stdtrit(freedom, POWER)) * np.sqrt(variance)
    return float(min(_SIZES[reach <= difference], default=math.inf))


def samples_needed(baseline: Predictions, nominee: Predictions, test: NomineeTest, margin: float) -> int | None:
    """Return about how many test samples a nominee that is as good as it looks needs to pass; None if none are enough.

    Each of the gate's tests on test, with this `margin` of F1, should detect its difference in 80 % of cases, under as
    many held-out wordings as now (see `samples_to_see`). With several models it is as many as the one takes that needs
    most. The number is rounded up to two digits.
    """
    if test.of_models:
        of_models = [
            samples_needed(ours, theirs, replace(test.of_models[ours.model], level=test.level), margin)
            for ours, theirs in zip(baseline.each, nominee.each, strict=True)
        ]
        return None if None in of_models else max(filter(None, of_models), default=0)
    if len(baseline.samples) < 2 or test.is_barred:
        return None
    in_all = compare_paired(baseline, nominee)
    if any(in_all[measure].standard_error is None for measure in test.decisive):
        return None  # so few wordings show nothing of S, whatever the number of samples
    by_samples = compare_paired(baseline, nominee, wordings="fixed")

    def needed(measure: str, difference: float, level: float = test.level) -> float:
        whole, part = ((of[measure].standard_error or 0.0) ** 2 for of in (in_all, by_samples))
        # One wording shows no scatter, and of S two don't (see `psopt.metrics`).
        wordings_df = max(1, baseline.n_rephrasings - (2 if measure == "sensitivity" else 1))
        of_wordings = max(0.0, whole - part)
        n_samples = samples_to_see(difference, level, part, of_wordings, len(baseline.samples), wordings_df)
        if getattr(test, measure).is_thin and difference > 0:
            n_samples = max(n_samples, -math.log(level) / difference)  # so many unseen ones may speak against it
        return n_samples

    gain, drop = test.f1.difference, -test.sensitivity.difference
    if test.decisive == F1_ALONE:
        fewest = needed("f1", gain)
    else:
        # Simes: better in one of them at half the level, or in both (see `NomineeTest.p_value`).
        of_one = min(needed(measure, by, test.level / 2) for measure, by in zip(BOTH, (gain, drop), strict=True))
        of_both = max(needed("f1", gain), needed("sensitivity", drop))
        no_worse = max(needed("f1", gain + margin), needed("sensitivity", drop + MARGIN_OF_S))
        fewest = max(no_worse, min(of_one, of_both))
    return int(rounded_up(max(2, fewest))) if fewest <= _MOST else None
