"""Picking one prompt of a front: by name, by a measure, by id, or by a query such as ``max F1 with S <= .05``."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from psopt.errors import InputError, UnknownNameError
from psopt.evaluation import OBJECTIVES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_T = TypeVar("_T")

MEASURES = {
    "f1": "f1",
    "s": "sensitivity",
    "sensitivity": "sensitivity",
    "c": "consistency",
    "consistency": "consistency",
    "tokens": "tokens",
}
"""What may be named in a query, and what it stands for."""
_OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
_NAMES = "|".join(sorted(MEASURES, key=len, reverse=True))
_QUERY = re.compile(rf"\s*(max|min)\w*\s+({_NAMES})\s*(?:(?:with|where|if|,)\s+(.+))?", re.IGNORECASE)
_BOUND = re.compile(rf"\s*({_NAMES})\s*(<=|>=|<|>)\s*(\d*\.?\d+)\s*(%?)\s*", re.IGNORECASE)
_HOW = "say for instance 'max F1 with S <= .05' or 'min tokens with F1 >= .7 and S < .1'"


@dataclass(frozen=True, slots=True)
class Bound:
    """A measure has to keep to a bound."""

    measure: str
    sign: str
    value: float

    def holds(self, value: float) -> bool:
        """Whether a value keeps to it."""
        return bool(_OPERATORS[self.sign](value, self.value))

    def __str__(self) -> str:
        return f"{self.measure} {self.sign} {self.value:g}"


@dataclass(frozen=True, slots=True)
class SelectionQuery:
    """The best by one measure, among those that keep to bounds."""

    measure: str
    highest: bool
    bounds: tuple[Bound, ...]


def is_selection(text: str) -> bool:
    """Whether this is meant as a query, and not as a name."""
    return " " in text.strip()


def read_selection(text: str) -> SelectionQuery:
    """Read a query.

    >>> read_selection("max F1 with S <= .05").bounds
    (Bound(measure='sensitivity', sign='<=', value=0.05),)

    Raises InputError if it can't be understood.
    """
    query = _QUERY.fullmatch(text)
    if not query:
        raise InputError(f"{text!r} can't be understood: {_HOW}")
    bounds = []
    for part in re.split(r"\s+and\s+|,", query[3], flags=re.IGNORECASE) if query[3] else ():
        bound = _BOUND.fullmatch(part)
        if not bound:
            raise InputError(f"{part.strip()!r} in {text!r} can't be understood: {_HOW}")
        value = float(bound[3]) / (100 if bound[4] else 1)
        bounds.append(Bound(MEASURES[bound[1].lower()], bound[2], value))
    return SelectionQuery(MEASURES[query[2].lower()], query[1].lower() == "max", tuple(bounds))


def choose(query: SelectionQuery, items: Sequence[_T], value: Callable[[_T, str], float]) -> _T:
    """Choose the item that fulfils a query best; of equal ones the first. `value` gives an item's measure, on val.

    Raises InputError if no item keeps to the bounds; says which bound excludes all, and what comes nearest.
    """
    eligible = list(items)
    for measure in (query.measure, *(bound.measure for bound in query.bounds)):
        if any(math.isnan(value(item, measure)) for item in eligible):
            raise InputError(f"{measure} is not defined for these answers, which have no classes: ask for F1 or S")
    for bound in query.bounds:
        kept = [item for item in eligible if bound.holds(value(item, bound.measure))]
        if not kept:
            values = [value(item, bound.measure) for item in eligible]
            nearest = min(values) if bound.sign.startswith("<") else max(values)
            raise InputError(f"no prompt of the front has {bound} on val: the nearest has {nearest:.4g}")
        eligible = kept
    return (max if query.highest else min)(eligible, key=lambda item: value(item, query.measure))


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

    Raises UnknownNameError if it is neither of these. Raises InputError if a query can't be understood, or no prompt
    fulfils it.

    Parameters
    ----------
    which : str
        ``knee``, ``recommended`` or ``short`` (the knee where there is none), an objective's name, an id or its
        beginning, or a query (see `read_selection`).
    knee, prompt_id, value : callables
        Give the knee, a prompt's id, and a prompt's measure on val.
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
