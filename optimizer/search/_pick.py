"""Picking one prompt of a front: by name, by a measure, by id, or by a query such as ``max F1 with S <= .05``."""

from __future__ import annotations

import math
import operator
import re
from typing import TYPE_CHECKING, TypeVar

from psopt.errors import InputError, UnknownNameError
from psopt.evaluation import OBJECTIVES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

_LEAST_OF_AN_ID = 4

_MEASURES = {
    "f1": "f1",
    "s": "sensitivity",
    "sensitivity": "sensitivity",
    "c": "consistency",
    "consistency": "consistency",
    "tokens": "tokens",
}
"""What may be named in a query, and what it stands for."""
_OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
_NAMES = "|".join(sorted(_MEASURES, key=len, reverse=True))
_QUERY = re.compile(rf"\s*(max|min)\w*\s+({_NAMES})\s*(?:(?:with|where|if|,)\s+(.+))?", re.IGNORECASE)
_BOUND = re.compile(rf"\s*({_NAMES})\s*(<=|>=|<|>)\s*(\d*\.?\d+)\s*(%?)\s*", re.IGNORECASE)
_HOW = "say for instance 'max F1 with S <= .05' or 'min tokens with F1 >= .7 and S < .1'"


def _best_by_query(text: str, items: Sequence[T], value: Callable[[T, str], float]) -> T:
    """Choose the item that fulfils a query best; of equal ones the first.

    Raises InputError if the query can't be understood, or no item keeps to its bounds; says which bound excludes all,
    and what comes nearest.
    """
    query = _QUERY.fullmatch(text)
    if not query:
        raise InputError(f"{text!r} can't be understood: {_HOW}")
    measure = _MEASURES[query[2].lower()]
    bounds = []
    for part in re.split(r"\s+and\s+|,", query[3], flags=re.IGNORECASE) if query[3] else ():
        bound = _BOUND.fullmatch(part)
        if not bound:
            raise InputError(f"{part.strip()!r} in {text!r} can't be understood: {_HOW}")
        bounds.append((_MEASURES[bound[1].lower()], bound[2], float(bound[3]) / (100 if bound[4] else 1)))
    for name in (measure, *(of for of, _, _ in bounds)):
        if any(math.isnan(value(item, name)) for item in items):
            raise InputError(f"{name} is not defined for these answers, which have no classes: ask for F1 or S")
    eligible = list(items)
    for of, sign, limit in bounds:
        values = [value(item, of) for item in eligible]
        eligible = [item for item, of_item in zip(eligible, values, strict=True) if _OPERATORS[sign](of_item, limit)]
        if not eligible:
            nearest = min(values) if sign.startswith("<") else max(values)
            raise InputError(f"no prompt of the front has {of} {sign} {limit:g} on val: the nearest has {nearest:.4g}")
    best = max if query[1].lower() == "max" else min
    return best(eligible, key=lambda item: value(item, measure))


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

    Raises UnknownNameError if it is neither of these. Raises InputError if a query can't be understood, or no prompt
    fulfils it.

    Parameters
    ----------
    which : str
        ``knee``, ``recommended`` or ``short`` (the knee where there is none), an objective's name, an id or its
        beginning, or a query such as ``max F1 with S <= .05``.
    knee, prompt_id, value : callables
        Give the knee, a prompt's id, and a prompt's measure on val.
    """
    everyone = front if shortest is None else [*front, shortest]
    if " " in which.strip():
        return _best_by_query(which, everyone, value)
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
