"""How many test samples would settle what the gate has left open."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.evaluation import compare_paired
from psopt.search import rounded_up
from psopt.search.gating import BOTH, F1_ALONE, MARGIN_OF_S

if TYPE_CHECKING:
    from psopt.evaluation import Predictions
    from psopt.metrics import PairedDifference
    from psopt.search.gating import NomineeTest

POWER = 0.8
"""How often the test should see the difference: Cohen's convention (Statistical Power Analysis, 1988, section 2.4)."""
_MOST = 100_000  # nobody labels more for a test, so a larger number is of no use


@dataclass(frozen=True, slots=True)
class DifferenceSpread:
    """How much the difference varies between two prompts on the same samples and wordings."""

    # The variance of the difference: the part that comes from samples, and the part that comes from wordings
    of_samples: float
    of_wordings: float
    # How many it was measured on
    n_samples: int
    n_wordings: int

    def smallest_difference(self, n_samples: int, level: float) -> float:
        """Return the true difference that a one-sided paired test on this many samples detects in 80 % of cases.

        The variance from wordings does not shrink with more samples. Degrees of freedom are Satterthwaite's (Biometrics
        Bulletin 1946); the quantile of the central t replaces that of the non-central one, as is usual.
        """
        from scipy.special import stdtrit  # quantiles of t, without the half second that importing scipy.stats takes

        if n_samples < 2:
            return 1.0
        of_samples = self.of_samples * self.n_samples / n_samples
        variance = of_samples + self.of_wordings
        if not variance:
            return 0.0
        parts = of_samples**2 / (n_samples - 1) + self.of_wordings**2 / max(1, self.n_wordings - 1)
        freedom = variance**2 / parts
        return float(stdtrit(freedom, 1 - level) + stdtrit(freedom, POWER)) * math.sqrt(variance)


def samples_needed(baseline: Predictions, nominee: Predictions, test: NomineeTest, margin: float) -> int | None:
    """Return about how many test samples a nominee that is as good as it looks needs to pass; None if none are enough.

    Each of the gate's tests should detect its difference in 80 % of cases, under as many held-out wordings as now:
    their part of the standard error does not shrink with samples, and may alone be enough to fail.
    The predictions are those on test, and the margin is that of F1. The number is rounded up to two digits.
    """
    if len(baseline.samples) < 2 or test.is_barred:
        return None
    in_all = compare_paired(baseline, nominee)
    if any(in_all[measure].standard_error is None for measure in test.decisive):
        return None  # so few wordings show nothing of S, whatever the number of samples
    by_samples = compare_paired(baseline, nominee, wordings="fixed")
    spreads = {measure: _spread(in_all[measure], by_samples[measure], baseline) for measure in BOTH}

    def passes(n_samples: int) -> bool:
        return _passes(test, spreads, margin, n_samples)

    if not passes(_MOST):
        return None
    fewest = 2 + bisect_left(range(2, _MOST), True, key=passes)  # a test detects more with more samples
    return int(rounded_up(fewest))  # more digits would suggest a precision that it lacks


def _spread(in_all: PairedDifference, by_samples: PairedDifference, on_test: Predictions) -> DifferenceSpread:
    """How a difference varies, from its standard errors with and without the variance of wordings."""
    whole, part = ((of.standard_error or 0.0) ** 2 for of in (in_all, by_samples))
    return DifferenceSpread(part, max(0.0, whole - part), len(on_test.samples), on_test.n_rephrasings)


def _passes(test: NomineeTest, spreads: dict[str, DifferenceSpread], margin: float, n_samples: int) -> bool:
    def sees(measure: str, difference: float, level: float) -> bool:
        if getattr(test, measure).is_thin and difference * n_samples < -math.log(level):
            return False  # enough unseen samples could speak against it: the rule of three
        return difference >= spreads[measure].smallest_difference(n_samples, level)

    gain, loss = test.f1.difference, test.sensitivity.difference
    if test.decisive == F1_ALONE:
        return sees("f1", gain, test.level)
    is_no_worse = sees("f1", gain + margin, test.level) and sees("sensitivity", MARGIN_OF_S - loss, test.level)

    def is_better(level: float) -> list[bool]:
        return [sees("f1", gain, level), sees("sensitivity", -loss, level)]

    # Simes: in one of them at half the level, or in both (see `NomineeTest.p_value`).
    return is_no_worse and (any(is_better(test.level / 2)) or all(is_better(test.level)))
