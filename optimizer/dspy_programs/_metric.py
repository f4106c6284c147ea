"""The score of a program's answer by a DSPy metric."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from psopt.errors import InputError

Metric = Callable[..., Any]
PASSED = 0.5
"""The score that a prediction needs to be shown as an example: for a yes/no metric, yes."""
_MOST_EXTRA = 3  # a trace, and GEPA's predictor name and trace


def judge(metric: Metric, example: Any, prediction: Any) -> tuple[float, str]:
    """Call a metric; return its score of a prediction, in [0, 1], and its reason in words, if it gives one.

    It may take (example, prediction), with a trace as from DSPy's optimizers, or GEPA's five arguments; unknown ones
    are None.

    Raises InputError if it returns anything else, or takes other arguments.
    """
    value: Any = metric(example, prediction, *[None] * n_extra_arguments(metric))
    feedback = ""
    if isinstance(value, Mapping):
        feedback, value = value.get("feedback") or "", value.get("score")
    elif hasattr(value, "score"):
        feedback, value = getattr(value, "feedback", None) or "", value.score
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"the metric returned {value!r}, not a number in [0, 1] or a truth value") from None
    if not 0 <= number <= 1:
        raise InputError(f"the metric returned {number:g}; psopt needs numbers in [0, 1]")
    return number, str(feedback)


def n_extra_arguments(metric: Metric) -> int:
    """How many arguments a metric needs after the example and the prediction: 0 to 3.

    >>> n_extra_arguments(lambda example, prediction, trace=None: True)
    0
    >>> n_extra_arguments(lambda gold, prediction, trace, pred_name, pred_trace: True)
    3

    Raises InputError if it cannot be called with two to five arguments.
    """
    if not callable(metric):
        raise InputError(
            f"the metric comes first, and {metric!r} is none: name the others, SensitivityOptimizer(num_trials=.., "
            "num_rephrasings=..)"
        )
    try:
        signature = inspect.signature(metric)
    except (TypeError, ValueError):  # written in C: it is called with DSPy's minimal arguments
        return 0
    for n_extra in range(_MOST_EXTRA + 1):
        with contextlib.suppress(TypeError):
            signature.bind(*[None] * (2 + n_extra))
            return n_extra
    n_needed = sum(parameter.default is parameter.empty for parameter in signature.parameters.values())
    raise InputError(
        f"the metric {getattr(metric, '__name__', repr(metric))} takes {n_needed} arguments; psopt calls it with an "
        "example and a prediction, and up to three more (trace, pred_name, pred_trace)"
    )
