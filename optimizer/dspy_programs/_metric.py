"""What an answer of a program is worth, by a metric as DSPy has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psopt.errors import InputError

Metric = Callable[..., Any]


def metric_score(metric: Metric, example: Any, prediction: Any) -> float:
    """Call a metric (example, prediction) and read a number in [0, 1] from what it returns.

    Raises
    ------
    InputError
        If it returns anything else.
    """
    value: Any = metric(example, prediction)
    value = getattr(value, "score", value)  # GEPA's metrics return a score with feedback
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"the metric returned {value!r}, not a number in [0, 1] or a truth value") from None
    if not 0 <= number <= 1:
        raise InputError(f"the metric returned {number:g}; psopt needs numbers in [0, 1]")
    return number
