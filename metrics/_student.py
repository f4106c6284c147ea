"""Student's t, and the floor under it where hardly anything varies.

Where nothing varies, the variance is 0 and tells nothing. Then the end of an interval is never closer than with
-ln(tail) further samples (3.69 for 95 %) that are all at the far end of the scale: so many could have been missed with
the tail's chance (the rule of three, Hanley and Lippman-Hand, 1983). C counts pairs, in which a sample stands twice:
each of its samples counts for half, `n` is N / 2.
"""

from __future__ import annotations

import numpy as np


def quantile(df: float, tail: float) -> float:
    """The t above which the tail's share of the distribution lies."""
    from scipy.special import stdtrit  # costs .1 s to import: where it is needed

    return float(-stdtrit(df, tail))


def logit_ends(estimate: float, error: float, df: float, tail: float) -> tuple[float, float]:
    """The ends of an interval of a score in [0, 1], t quantiles away on the logit scale.

    A score near an end of the scale scatters lopsidedly; the error on the logit scale is error / (x (1 - x)).
    """
    spread = estimate * (1 - estimate)
    if error == 0 or spread <= 0:
        return estimate, estimate
    from scipy.special import expit, logit

    middle, reach = logit(estimate), quantile(df, tail) * error / spread
    # rounding there and back must not put the estimate outside
    return min(float(expit(middle - reach)), estimate), max(float(expit(middle + reach)), estimate)


def upper_tail(t: float, df: float) -> float:
    """The share of the distribution that lies above t."""
    from scipy.special import stdtr

    return float(stdtr(df, -t))


def floor_low(estimate: float, n: float, tail: float, least: float) -> float:
    """Where an estimate goes if -ln(tail) further samples are all at the scale's lower end.

    >>> round(floor_low(1.0, 50, 0.025, 0.0), 3)
    0.931
    """
    return least + (estimate - least) * n / (n - float(np.log(tail)))


def floor_high(estimate: float, n: float, tail: float, most: float) -> float:
    """The same at the upper end."""
    return most - (most - estimate) * n / (n - float(np.log(tail)))


def floor_p_value(estimate: float, bound: float, n: float, least: float) -> float:
    """The tail at which `floor_low` meets a bound: 1 for one above the estimate.

    >>> round(floor_p_value(1.0, floor_low(1.0, 50, 0.025, 0.0), 50, 0.0), 6)
    0.025
    """
    if bound >= estimate:
        return 1.0
    if bound <= least:
        return 0.0
    return float(np.exp(-n * ((estimate - least) / (bound - least) - 1)))
