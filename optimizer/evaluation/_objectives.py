"""What prompts are compared by, F1, S and C: which of them there are, what they are, and as gains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.answers import AnswerType

    Direction = Literal["maximize", "minimize"]

OBJECTIVES: dict[str, Direction] = {
    "f1": "maximize",
    "sensitivity": "minimize",
    "consistency": "maximize",
}


class Objectives(Protocol):
    """Scores, measured or estimated, that have the objectives."""

    @property
    def f1(self) -> float:
        """The higher the better."""

    @property
    def sensitivity(self) -> float:
        """The lower the better."""

    @property
    def consistency(self) -> float | None:
        """The higher the better; None where it is not defined."""


def objectives_of(answers: AnswerType) -> dict[str, Direction]:
    """Return the objectives that answers have: without classes there is no C."""
    return {name: way for name, way in OBJECTIVES.items() if name != "consistency" or answers.has_consistency}


def objective_values(scores: Objectives | Mapping[str, Any]) -> dict[str, float]:
    """Return the objectives that are defined by name, in the order of `OBJECTIVES`; of run.json's data too.

    >>> objective_values({"f1": 0.8, "sensitivity": 0.1, "consistency": None, "na_rate": 0.0})
    {'f1': 0.8, 'sensitivity': 0.1}
    """
    values = {name: scores[name] if isinstance(scores, Mapping) else getattr(scores, name) for name in OBJECTIVES}
    return {name: value for name, value in values.items() if value is not None}


def objective_gains(scores: Objectives | Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the objectives that are defined, all to be maximised: F1, -S and C."""
    values = objective_values(scores)
    return np.array([value if OBJECTIVES[name] == "maximize" else -value for name, value in values.items()])
