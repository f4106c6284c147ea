"""The Pareto front of a search, and how to pick one prompt from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.search._pick import pick_one
from psopt.search_spaces import ORDERS, render_instructions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Scores
    from psopt.search_spaces import Edit, Prompt


@dataclass(frozen=True, eq=False)
class Candidate:
    """A prompt that was evaluated: its edits, its examples' order, its scores on val and, once reported, on test."""

    trial: int
    prompt: Prompt
    edits: tuple[Edit, ...]
    val: Scores
    test: Scores | None = None
    order: str = ORDERS[0]

    @property
    def id(self) -> str:
        """The prompt's id."""
        return self.prompt.id

    @property
    def length(self) -> dict[str, int]:
        """How long the prompt is without the text to classify: in characters, and about how many tokens."""
        characters = len(render_instructions(self.prompt))
        return {"characters": characters, "tokens": characters // 4}


def pareto_front(candidates: Sequence[Candidate], least_f1: float) -> tuple[Candidate, ...]:
    """Return the feasible candidates that no feasible one beats in every objective, by falling F1.

    Of candidates with equal scores the one with fewest edits stands for all.
    """
    feasible = [one for one in candidates if one.val.f1 >= least_f1]
    unique: dict[tuple[float, ...], Candidate] = {}
    for one in sorted(feasible, key=lambda one: (len(one.edits), one.trial)):
        unique.setdefault(tuple(_gains(one)), one)
    rest = list(unique.values())
    front = [one for one in rest if not any(_dominates(other, one) for other in rest)]
    return tuple(sorted(front, key=lambda one: (-one.val.f1, one.val.sensitivity, one.trial)))


def knee(front: Sequence[Candidate], baseline: Candidate) -> Candidate:
    """Pick the compromise: the candidate nearest to the best of all three objectives, each scaled to the front's range.

    Only candidates that are no worse than the baseline in F1 and in sensitivity come into question, where there are
    any.
    """
    better = [one for one in front if one.val.f1 >= baseline.val.f1 and one.val.sensitivity <= baseline.val.sensitivity]
    gains = np.array([_gains(one) for one in front])
    low, high = gains.min(axis=0), gains.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return min(better or front, key=lambda one: float(np.linalg.norm((high - _gains(one)) / span)))


def pick(front: Sequence[Candidate], baseline: Candidate, which: str, shortest: Candidate | None = None) -> Candidate:
    """Pick a candidate as `pick_one` says."""
    return pick_one(
        front,
        which,
        knee=lambda: knee(front, baseline),
        prompt_id=lambda one: one.id,
        value=_measured,
        shortest=shortest,
    )


def _measured(candidate: Candidate, measure: str) -> float:
    return float(candidate.length["tokens"] if measure == "tokens" else getattr(candidate.val, measure))


def _gains(candidate: Candidate) -> NDArray[np.float64]:
    """The objectives, all to be maximised."""
    scores = candidate.val
    return np.array([scores.f1, -scores.sensitivity, scores.consistency])


def _dominates(one: Candidate, other: Candidate) -> bool:
    a, b = _gains(one), _gains(other)
    return bool((a >= b).all() and (a > b).any())
