"""The prompts of a run's front, and picking one: by name, measure, id, or ``max F1 with S <= .05``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, UnknownNameError
from psopt.evaluation import OBJECTIVES
from psopt.runs._directory import FRONT, MANIFEST, RunDirectory
from psopt.runs._recommendation import quality_name, recommendation_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.search import Candidate

Entry = Mapping[str, Any]
"""A prompt of a front, as front.json has it."""
_LONGEST_NAME = 3  # letters: ids are longer


def front_entry(candidate: Candidate, knee_id: str | None) -> dict[str, Any]:
    """One prompt of the front, as run.json lists it."""
    return {
        "id": candidate.id,
        "knee": candidate.id == knee_id,
        "trial": candidate.trial,
        "edits": [edit.to_dict() for edit in candidate.edits],
        "length": candidate.length,
        **scores_of(candidate),
    }


def prompt_names(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The names of a run's prompts on screens, by their ids: ``original``, and ``A``, ``B`` .. in the front's order.

    >>> prompt_names({"baseline": {"id": "c7"}, "front": [{"id": "e1"}, {"id": "c7"}], "short": {"id": "f2"}})
    {'c7': 'original', 'e1': 'A', 'f2': 'B'}
    """
    baseline = str(manifest["baseline"]["id"])
    others = [*manifest["front"], manifest.get("short"), manifest.get("recommended")]
    ids = dict.fromkeys(str(entry["id"]) for entry in others if entry and entry["id"] != baseline)
    letters = (chr(ord("A") + place % 26) + str(place // 26 or "") for place in range(len(ids)))
    return {baseline: "original", **dict(zip(ids, letters, strict=True))}


def named(text: str, names: Mapping[str, str]) -> str:
    """A text with the ids of prompts replaced by their names."""
    for prompt_id, name in names.items():
        text = text.replace(prompt_id, name)
    return text


def scores_of(candidate: Candidate) -> dict[str, Any]:
    """A candidate's scores, as run.json and front.json have them."""
    return {"val": candidate.val.to_dict(), "test": candidate.test and candidate.test.to_dict()}


def read_entry(run: Path, which: str) -> Mapping[str, Any]:
    """Read one of a run's prompts, as `pick_entry` does; raises InputError if there is no front, or no such prompt."""
    directory = RunDirectory.open(run)
    if not (directory.path / FRONT).exists():
        raise InputError(f"{run} has no front yet: resume with `psopt resume {run}`")
    front = directory.read_json(FRONT)
    beside = {name: front[name] for name in ("short", "recommended", "original") if name in front}
    if isinstance(which, str) and len(which) <= _LONGEST_NAME:
        names = prompt_names(directory.read_json(MANIFEST))
        which = next((prompt_id for prompt_id, name in names.items() if name == which), which)
    return pick_entry(front["prompts"], which, **beside)


def picked_prompt(run: Path, which: str = "recommended") -> Path:
    """The file of one of a run's prompts, picked as `read_entry` does."""
    return run / "prompts" / f"{read_entry(run, which)['id']}.json"


def pick_note(run: Path, which: str) -> list[str]:
    """Return the verdict on a recommended prompt; nothing if another one was picked."""
    directory = RunDirectory.open(run)
    if which != "recommended" or not (directory.path / FRONT).exists():
        return []
    manifest = directory.read_json(MANIFEST)
    return recommendation_lines(manifest["recommended"], quality_name(manifest))[:1]


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


def _best_by_query(text: str, eligible: Sequence[Entry]) -> Entry:
    """Choose the prompt that satisfies a query best; of equal ones the first."""
    query = _QUERY.fullmatch(text)
    if not query:
        raise InputError(f"{text!r} can't be understood: {_HOW}")
    measure = _MEASURES[query[2].lower()]
    bounds = _bounds(text, query[3]) if query[3] else []
    for name in (measure, *(of for of, _, _ in bounds)):
        if any(math.isnan(_measured(entry, name)) for entry in eligible):
            raise InputError(f"{name} is not defined for these answers, which have no classes: ask for F1 or S")
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
    """A measure in percent, as screens show it, and tokens as a number: a text, which calls have, is not in it."""
    return f"{value:g} without a text" if measure == "tokens" else f"{100 * value:.4g} %"


def pick_entry(front: Sequence[Entry], which: str, **beside: Entry | None) -> Entry:
    """Pick a prompt of a front, or one of those `beside` it: ``short``, ``recommended`` and ``original``.

    `which` is ``knee`` or one of these (the knee if there is none), an objective's name, an id or its beginning, or a
    query such as ``max F1 with S <= .05``. Measures are those on val. Raises UnknownNameError if `which` names none of
    these, InputError if a query can't be understood, or no prompt satisfies it.
    """
    short = beside.get("short")
    eligible = [*front, *([short] if short else [])]
    if not isinstance(which, str):
        raise InputError(f"a prompt is picked by a text, such as 'knee' or its id, not {which!r:.60}")
    if " " in which.strip():
        return _best_by_query(which, eligible)
    by_name = {"short": None, "recommended": None, "knee": None, **beside}
    if which in by_name:
        return by_name[which] or next(entry for entry in front if entry["knee"])
    if which in OBJECTIVES:
        best = max if OBJECTIVES[which] == "maximize" else min
        measured = [entry for entry in front if not math.isnan(_measured(entry, which))]
        if not measured:
            raise InputError(f"{which} is not defined for these answers: pick by f1 or sensitivity")
        return best(measured, key=lambda entry: _measured(entry, which))
    by_id = {str(entry["id"]): entry for entry in (*front, *beside.values()) if entry}
    matching = [name for name in by_id if name.startswith(which)]
    if len(which) < _LEAST_OF_AN_ID or len(matching) != 1:
        raise UnknownNameError("prompt of the front", which, [*by_name, *OBJECTIVES, *by_id])
    return by_id[matching[0]]


def _measured(entry: Entry, measure: str) -> float:
    value = entry["length"]["tokens"] if measure == "tokens" else entry["val"][measure]
    return math.nan if value is None else float(value)
