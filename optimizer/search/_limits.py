"""Limits that can't pay for a run's least are refused before the first call."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.search._reserve import Reserve

if TYPE_CHECKING:
    from psopt.evaluation import Evaluator
    from psopt.search_spaces import Prompt


def check_limits(evaluator: Evaluator, prompt: Prompt, *, has_val: bool = False, effort: str = "") -> None:
    """Refuse limits under which not even the seed prompt is scored on val and test.

    What is in the cache costs nothing. Tokens are estimated at their most, so that a limit that passes here will do.

    Parameters
    ----------
    evaluator : Evaluator
    prompt : Prompt
        The seed prompt.
    has_val : bool
        Whether val has been answered in an earlier part of the run.
    effort : str
        The name of the effort whose number of calls is the limit, where it is not the user's.

    Raises
    ------
    InputError
        Naming the limit and the least that works.
    """
    reserve = Reserve(evaluator)
    if not reserve.is_needed:
        return
    least = reserve.least(prompt, ("test",) if has_val else ("val", "test"))
    budget = evaluator.budget
    what = "the baseline's final test" if has_val else "the baseline on val and the final test"
    if budget.max_calls is not None and least.calls > budget.max_calls:
        if effort:
            raise InputError(
                f"effort {effort}, {budget.max_calls:,} calls, can't pay {what}, at least {least.calls}: "
                f"give --max-calls {least.calls} or more, or a larger --effort"
            )
        raise InputError(f"--max-calls {budget.max_calls} can't pay {what}: at least {least.calls}")
    if budget.max_tokens is not None and least.tokens > budget.max_tokens:
        raise InputError(
            f"--max-tokens-total {budget.max_tokens} can't pay {what}: at least {rounded_up(least.tokens):.0f}"
        )
    if budget.max_cost is not None and least.cost > budget.max_cost:
        raise InputError(f"--max-cost {budget.max_cost:g} can't pay {what}: at least {rounded_up(least.cost):g} USD")


def rounded_up(amount: float) -> float:
    """Two significant digits, never less than the amount.

    >>> rounded_up(0.30123), rounded_up(90), rounded_up(12345)
    (0.31, 90.0, 13000.0)
    """
    if amount <= 0:
        return 0.0
    digits = 1 - math.floor(math.log10(amount))
    return round(math.ceil(round(amount * 10.0**digits, 6)) / 10.0**digits, max(0, digits))
