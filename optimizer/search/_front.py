"""The Pareto front of a search, and how to pick one prompt from it.

By name, by a measure, by id, or by a query such as ``max F1 with S <= .05``.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from psopt.errors import InputError, UnknownNameError
from psopt.evaluation import OBJECTIVES, Objectives
from psopt.models.chat import tokens_of_text
from psopt.search_spaces import ORDERS, render_fixed
from psopt.settings import GATE_MARGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Scores
    from psopt.search_spaces import Edit, Prompt


class RankedScores(Objectives, Protocol):
    """The objectives on val, measured or estimated, from which fronts are built."""

    @property
    def gains(self) -> NDArray[np.float64]:
        """All of them, to be maximised: F1, -S and, where it is defined, C."""

    @property
    def is_hollow(self) -> bool:
        """Whether a constant answer would score about the same or better, so that S and C mean nothing."""


@dataclass(frozen=True, eq=False)
class Tried:
    """A prompt that was tried, completely or in part: what it adds to the original one, and its scores on val.

    `order` is that of its examples. `audit` is set if it would have stopped in its race but was asked further as a
    check: ``right`` or ``wrong`` says whether stopping would have been right.
    """

    trial: int
    prompt: Prompt
    edits: tuple[Edit, ...]
    val: RankedScores
    order: str = field(default=ORDERS[0], kw_only=True)
    audit: str = field(default="", kw_only=True)

    @property
    def id(self) -> str:
        """The prompt's id."""
        return self.prompt.id


@dataclass(frozen=True, eq=False)
class Candidate(Tried):
    """A prompt whose whole grid on val is known, with its scores on test once it has been tested."""

    val: Scores
    test: Scores | None = None

    def __repr__(self) -> str:
        """The id, how much it adds, and its scores on val."""
        return f"<Candidate {self.id}: trial {self.trial}, {len(self.edits)} edits, val {self.val!r}>"

    @property
    def length(self) -> dict[str, int]:
        """The length of the prompt without the text to classify: in characters, and in tokens (approximate)."""
        text = render_fixed(self.prompt)
        return {"characters": len(text), "tokens": round(tokens_of_text(text).middle)}


# The best possible gains: F1, -S and, where it is defined, C.
UTOPIA = np.array([1.0, 0.0, 1.0])
_WORST_STEADINESS = -1.0  # S = 1

R = TypeVar("R", bound=Tried)
T = TypeVar("T")


def pareto_front(candidates: Sequence[R], least_f1: float) -> tuple[R, ...]:
    """Return the feasible candidates that no other feasible one dominates, by descending F1.

    Of candidates with equal scores, the one with the fewest edits is kept. One that always gives the same ordered label
    is left out: the middle of a scale is close to everything, so S = 0 and C = 1 prove nothing. So is one that gives
    nearly everything one label with hardly more F1 than a constant answer, or guesses (see `why_worthless`).
    """
    unique: dict[tuple[float, ...], R] = {}
    feasible = feasible_of(candidates, least_f1)
    for candidate in sorted(feasible, key=lambda candidate: (len(candidate.edits), candidate.trial)):
        unique.setdefault(tuple(candidate.val.gains), candidate)
    rivals = list(unique.values())
    front = [candidate for candidate in rivals if not any(_dominates(rival, candidate) for rival in rivals)]
    return tuple(sorted(front, key=lambda candidate: (-candidate.val.f1, candidate.val.sensitivity, candidate.trial)))


def feasible_of(candidates: Sequence[R], least_f1: float) -> list[R]:
    """Return the candidates with at least this F1, without hollow ones if any others are left."""
    feasible = [candidate for candidate in candidates if candidate.val.f1 >= least_f1]
    return [candidate for candidate in feasible if not candidate.val.is_hollow] or feasible


def knee(front: Sequence[R], baseline: Candidate) -> R:
    """Pick the compromise: the candidate nearest to F1 = 1, S = 0 and C = 1.

    The scale is fixed, so that no member of the front moves it (docs/decisions.md has the measurements). Only
    candidates that are not worse than the baseline in F1 or sensitivity by more than the gate's margin are considered,
    if there are any.

    If the baseline gives nearly everything one answer, or guesses, no S counts as worse than its own. If it gives one
    answer, C is ignored too: prompts that stay close to that answer would have the highest C.
    """
    gains = np.array([candidate.val.gains for candidate in front])
    start = baseline.val.gains.copy()
    if baseline.val.is_hollow:
        start[1] = _WORST_STEADINESS
    compared = gains[:, :2] if baseline.val.is_one_answer else gains
    distances = np.linalg.norm(UTOPIA[: compared.shape[-1]] - compared, axis=-1)
    is_no_worse = (gains[:, :2] >= start[:2] - GATE_MARGIN).all(axis=-1)
    if is_no_worse.any():
        distances = np.where(is_no_worse, distances, np.inf)
    return front[int(np.argmin(distances))]


def _dominates(rival: Tried, candidate: Tried) -> bool:
    lead = rival.val.gains - candidate.val.gains
    return bool((lead >= 0).all() and (lead > 0).any())


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


def _best_by_query(text: str, items: Sequence[T], value: Callable[[T, str], float]) -> T:
    """Choose the item that satisfies a query best; of equal ones the first."""
    query = _QUERY.fullmatch(text)
    if not query:
        raise InputError(f"{text!r} can't be understood: {_HOW}")
    measure = _MEASURES[query[2].lower()]
    bounds = _bounds(text, query[3]) if query[3] else []
    for name in (measure, *(of for of, _, _ in bounds)):
        if any(math.isnan(value(item, name)) for item in items):
            raise InputError(f"{name} is not defined for these answers, which have no classes: ask for F1 or S")
    eligible = list(items)
    for of, sign, limit in bounds:
        within = [item for item in eligible if _OPERATORS[sign](value(item, of), limit)]
        if not within:
            nearest = min((value(item, of) for item in eligible), key=lambda number: abs(number - limit))
            wanted = f"{of} {sign} {_shown(of, limit)}"
            raise InputError(f"no prompt of the front has {wanted} on val: the nearest has {_shown(of, nearest)}")
        eligible = within
    best = max if query[1].lower() == "max" else min
    return best(eligible, key=lambda item: value(item, measure))


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
    """Pick a prompt of a front, or `shortest` or `recommended`, which need not be on it.

    `which` is ``knee``, ``recommended`` or ``short`` (the knee if there is none), an objective's name, an id or its
    beginning, or a query such as ``max F1 with S <= .05``. `value` returns a prompt's measure on val. Raises
    UnknownNameError if `which` names none of these, InputError if a query can't be understood, or no prompt satisfies
    it.
    """
    everyone = [prompt for prompt in (*front, shortest) if prompt is not None]
    if " " in which.strip():
        return _best_by_query(which, everyone, value)
    by_name = {"short": shortest, "recommended": recommended, "knee": None}
    if which in by_name:
        return by_name[which] or knee()
    if which in OBJECTIVES:
        best = max if OBJECTIVES[which] == "maximize" else min
        candidates = [prompt for prompt in front if not math.isnan(value(prompt, which))]
        if not candidates:
            raise InputError(f"{which} is not defined for these answers: pick by f1 or sensitivity")
        return best(candidates, key=lambda prompt: value(prompt, which))
    by_id = {prompt_id(prompt): prompt for prompt in (*everyone, recommended) if prompt is not None}
    matching = [name for name in by_id if name.startswith(which)]
    if len(which) < _LEAST_OF_AN_ID or len(matching) != 1:
        raise UnknownNameError("prompt of the front", which, ["recommended", "knee", *OBJECTIVES, *by_id])
    return by_id[matching[0]]


def pick(
    front: Sequence[Candidate],
    baseline: Candidate,
    which: str,
    shortest: Candidate | None = None,
    recommended: Candidate | None = None,
) -> Candidate:
    """Pick a candidate as `pick_one` does."""
    return pick_one(
        front,
        which,
        knee=lambda: knee(front, baseline),
        prompt_id=lambda candidate: candidate.id,
        value=_measured,
        shortest=shortest,
        recommended=recommended,
    )


def _measured(candidate: Candidate, measure: str) -> float:
    value = candidate.length["tokens"] if measure == "tokens" else getattr(candidate.val, measure)
    return math.nan if value is None else float(value)
