"""Scores read back from run.json and front.json."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from psopt.evaluation._answer_shares import AnswerShares
from psopt.evaluation._na_kinds import NaExample
from psopt.evaluation._open_scores import OpenScores
from psopt.evaluation._ordinal import OrdinalScores
from psopt.evaluation._scores import ClassScores, FamilyScores, Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T", AnswerShares, ClassScores, FamilyScores, OrdinalScores, OpenScores, Scores)


def scores_from_dict(data: Mapping[str, Any]) -> Scores:
    """Build scores from `Scores.to_dict`'s data.

    Raises KeyError, TypeError or ValueError if the data are damaged.
    """
    per_class = {label: _built(ClassScores, _with_bounds(scores)) for label, scores in data["per_class"].items()}
    per_family = {family: _built(FamilyScores, scores) for family, scores in data.get("per_family", {}).items()}
    examples = {
        kind: NaExample(example["said"], tuple(example["samples"]))
        for kind, example in data.get("na_examples", {}).items()
    }
    ordinal, answers = data.get("ordinal"), data.get("open")
    built = {
        "per_class": per_class,
        "per_family": per_family,
        "na_examples": examples,
        "ordinal": _built(OrdinalScores, ordinal) if ordinal else None,
        "open": _built(OpenScores, answers) if answers else None,
        "shares": _built(AnswerShares, data) if "answer_shares" in data else None,
    }
    return _built(Scores, {**_with_bounds(data), **built})


def _with_bounds(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with their intervals as pairs; there is none of a measure that is not defined."""
    bounds = {name: (low, high) for name, (low, high) in (data.get("ci") or {}).items()}
    return {**data, "ci": bounds}


def _built(kind: type[T], data: Mapping[str, Any]) -> T:
    """A value of a class; what a later version has added is passed over."""
    names = {part.name for part in fields(kind)}
    return kind(**{name: value for name, value in data.items() if name in names})
