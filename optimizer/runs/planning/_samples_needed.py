"""How many test samples would settle what the gate has left open."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from psopt.runs.planning._power import smallest_difference, spread_of_predictions
from psopt.search import F1_ALONE, MARGIN_OF_S

if TYPE_CHECKING:
    from psopt.evaluation import Predictions
    from psopt.runs.planning._power import DifferenceSpread
    from psopt.search import NomineeTest

_MOST = 100_000  # nobody labels more for a test; beyond it "about so many" is of no use


def samples_needed(baseline: Predictions, nominee: Predictions, test: NomineeTest, margin: float) -> int | None:
    """Return with about how many test samples a nominee that is as good as it looks would pass; None for no number.

    Each of the gate's tests is to see its difference in 80 % of cases, under as many held-out wordings as now: their
    part of the standard error does not shrink with samples, and may be all that is needed to fail.

    Parameters
    ----------
    baseline, nominee : Predictions
        On test.
    test : NomineeTest
        What the gate has found of the nominee.
    margin : float
        That of F1.

    Returns
    -------
    int or None
        Rounded up to two digits.
    """
    if len(baseline.samples) < 2 or test.is_barred:
        return None
    spreads = spread_of_predictions(baseline, nominee)
    n_wordings = baseline.n_rephrasings

    def passes(n_samples: int) -> bool:
        return _passes(test, spreads, margin, n_samples, n_wordings)

    if not passes(_MOST):
        return None
    low, high = 1, _MOST  # by halves: what a test sees grows with its samples
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return _rounded_up(high)


def _passes(
    test: NomineeTest, spreads: dict[str, DifferenceSpread], margin: float, n_samples: int, n_wordings: int
) -> bool:
    def sees(measure: str, difference: float, level: float) -> bool:
        is_thin = test.f1.is_thin if measure == "f1" else test.sensitivity.is_thin
        if is_thin and difference * n_samples < -math.log(level):
            return False  # so many further samples could be against it, unseen: the rule of three
        # that of a one-sided test: `smallest_difference` halves it
        return difference >= smallest_difference(spreads[measure], n_samples, n_wordings, level=2 * level)

    gain, loss = test.f1.difference, test.sensitivity.difference
    if test.decisive == F1_ALONE:
        return sees("f1", gain, test.level)
    is_no_worse = sees("f1", gain + margin, test.level) and sees("sensitivity", MARGIN_OF_S - loss, test.level)
    return is_no_worse and (sees("f1", gain, test.level / 2) or sees("sensitivity", -loss, test.level / 2))


def _rounded_up(number: int) -> int:
    """To two digits: more would say that somebody knows.

    >>> _rounded_up(334), _rounded_up(7)
    (340, 7)
    """
    unit: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / unit) * unit
