"""Picking one prompt of a front: the recommended one, the knee, the shortest, the best by a measure, by id or query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from psopt.errors import InputError, UnknownNameError
from psopt.evaluation import OBJECTIVES
from psopt.search._selection import choose, is_selection, read_selection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

_LEAST_OF_AN_ID = 4


def pick_one(
    front: Sequence[T],
    which: str,
    *,
    knee: Callable[[], T],
    prompt_id: Callable[[T], str],
    value: Callable[[T, str], float],
    shortest: T | None = None,
    recommended: T | None = None,
) -> T:
    """Pick a prompt of a front; `shortest` and `recommended` may be beside it.

    Parameters
    ----------
    which : str
        ``knee``, ``recommended`` or ``short`` (the knee where there is none), an objective's name, an id or its
        beginning, or a query (see `read_selection`).
    knee, prompt_id, value : callables
        Give the knee, a prompt's id, and a prompt's measure on val.

    Raises
    ------
    UnknownNameError
        If it is neither of these.
    InputError
        If a query can't be understood, or no prompt fulfils it.
    """
    everyone = front if shortest is None else [*front, shortest]
    if is_selection(which):
        return choose(read_selection(which), everyone, value)
    by_name = {"short": shortest, "recommended": recommended, "knee": None}
    if which in by_name:
        return by_name[which] or knee()
    if which in OBJECTIVES:
        sign = 1 if OBJECTIVES[which] == "maximize" else -1
        known = [prompt for prompt in front if not math.isnan(value(prompt, which))]
        if not known:
            raise InputError(f"{which} is not defined for these answers: pick by f1 or sensitivity")
        return max(known, key=lambda prompt: sign * value(prompt, which))
    by_id = {prompt_id(prompt): prompt for prompt in (*everyone, *([recommended] if recommended else []))}
    named = (
        [prompt for name, prompt in by_id.items() if name.startswith(which)] if len(which) >= _LEAST_OF_AN_ID else []
    )
    if len(named) != 1:
        raise UnknownNameError("prompt of the front", which, ["recommended", "knee", *OBJECTIVES, *by_id])
    return named[0]
