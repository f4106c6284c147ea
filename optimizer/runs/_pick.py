"""Picking one prompt of a front: by name, by a measure, by its id, or by a query such as ``max F1 with S <= .05``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, UnknownNameError
from psopt.evaluation import OBJECTIVES

if TYPE_CHECKING:
    from collections.abc import Sequence

Entry = Mapping[str, Any]
"""A prompt of a front, as front.json has it."""
_LEAST_OF_AN_ID = 4  # characters: a shorter beginning could too easily be another prompt's

_MEASURES = {
    "f1": "f1",
    "s": "sensitivity",
    "sensitivity": "sensitivity",
    "c": "consistency",
    "consistency": "consistency",
    "tokens": "tokens",
}
"""The names that a query may use, and the measures that they stand for."""
_OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
_NAMES = "|".join(sorted(_MEASURES, key=len, reverse=True))
_QUERY = re.compile(rf"\s*(max|min)\w*\s+({_NAMES})\s*(?:(?:with|where|if|,)\s+(.+))?", re.IGNORECASE)
_BOUND = re.compile(rf"\s*({_NAMES})\s*(<=|>=|<|>)\s*(\d*\.?\d+)\s*(%?)\s*", re.IGNORECASE)
_HOW = "say for instance 'max F1 with S <= .05' or 'min tokens with F1 >= .7 and S < .1'"


def _best_by_query(text: str, entries: Sequence[Entry]) -> Entry:
    """Choose the prompt that satisfies a query best; of equal ones the first."""
    query = _QUERY.fullmatch(text)
    if not query:
        raise InputError(f"{text!r} can't be understood: {_HOW}")
    measure = _MEASURES[query[2].lower()]
    bounds = _bounds(text, query[3]) if query[3] else []
    for name in (measure, *(of for of, _, _ in bounds)):
        if any(math.isnan(_measured(entry, name)) for entry in entries):
            raise InputError(f"{name} is not defined for these answers, which have no classes: ask for F1 or S")
    eligible = list(entries)
    for of, sign, limit in bounds:
        within = [entry for entry in eligible if _OPERATORS[sign](_measured(entry, of), limit)]
        if not within:
            nearest = min((_measured(entry, of) for entry in eligible), key=lambda number: abs(number - limit))
            wanted = f"{of} {sign} {_shown(of, limit)}"
            raise InputError(f"no prompt of the front has {wanted} on val: the nearest has {_shown(of, nearest)}")
        eligible = within
    best = max if query[1].lower() == "max" else min
    return best(eligible, key=lambda entry: _measured(entry, measure))


def _bounds(text: str, conditions: str) -> list[tuple[str, str, float]]:
    """The conditions of a query: each measure, its operator and its limit."""
    bounds = []
    for part in re.split(r"\s+and\s+|,", conditions, flags=re.IGNORECASE):
        bound = _BOUND.fullmatch(part)
        if not bound:
            raise InputError(f"{part.strip()!r} in {text!r} can't be understood: {_HOW}")
        measure, sign, number, percent = bound.groups()
        name, limit = _MEASURES[measure.lower()], float(number)
        if percent:
            limit /= 100
        if name != "tokens" and limit > 1:
            raise InputError(f"{part.strip()!r} in {text!r}: {name} is a share from 0 to 1: say for instance .05 or 5%")
        bounds.append((name, sign, limit))
    return bounds


def _shown(measure: str, value: float) -> str:
    """A measure in percent, as screens show it, and tokens as a number."""
    return f"{value:g}" if measure == "tokens" else f"{100 * value:.4g} %"


def pick_entry(
    front: Sequence[Entry], which: str, short: Entry | None = None, recommended: Entry | None = None
) -> Entry:
    """Pick a prompt of a front, or `short` or `recommended`, which need not be on it.

    `which` is ``knee``, ``recommended`` or ``short`` (the knee if there is none), an objective's name, an id or its
    beginning, or a query such as ``max F1 with S <= .05``. Measures are those on val. Raises UnknownNameError if
    `which` names none of these, InputError if a query can't be understood, or no prompt satisfies it.
    """
    everyone = [entry for entry in (*front, short) if entry is not None]
    if " " in which.strip():
        return _best_by_query(which, everyone)
    by_name = {"short": short, "recommended": recommended, "knee": None}
    if which in by_name:
        return by_name[which] or next(entry for entry in front if entry["knee"])
    if which in OBJECTIVES:
        best = max if OBJECTIVES[which] == "maximize" else min
        measured = [entry for entry in front if not math.isnan(_measured(entry, which))]
        if not measured:
            raise InputError(f"{which} is not defined for these answers: pick by f1 or sensitivity")
        return best(measured, key=lambda entry: _measured(entry, which))
    by_id = {str(entry["id"]): entry for entry in (*everyone, recommended) if entry is not None}
    matching = [name for name in by_id if name.startswith(which)]
    if len(which) < _LEAST_OF_AN_ID or len(matching) != 1:
        raise UnknownNameError("prompt of the front", which, ["recommended", "knee", *OBJECTIVES, *by_id])
    return by_id[matching[0]]


def _measured(entry: Entry, measure: str) -> float:
    value = entry["length"]["tokens"] if measure == "tokens" else entry["val"][measure]
    return math.nan if value is None else float(value)
