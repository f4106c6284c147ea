"""The Pareto front of a search, and how to pick one prompt from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from psopt.models.chat import tokens_of_text
from psopt.search._pick import pick_one
from psopt.search_spaces import ORDERS, render_fixed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Scores
    from psopt.search_spaces import Edit, Prompt


@dataclass(frozen=True, eq=False)
class Candidate:
    """A prompt that was evaluated: its edits, its examples' order, its scores on val and, once reported, on test.

    `audit` is ``right`` or ``wrong`` where it would have stopped in its race: whether that would have been so.
    """

    trial: int
    prompt: Prompt
    edits: tuple[Edit, ...]
    val: Scores
    test: Scores | None = None
    order: str = ORDERS[0]
    audit: str = ""

    @property
    def id(self) -> str:
        """The prompt's id."""
        return self.prompt.id

    @property
    def length(self) -> dict[str, int]:
        """How long the prompt is without the text to classify: in characters, and about how many tokens."""
        text = render_fixed(self.prompt)
        return {"characters": len(text), "tokens": round(tokens_of_text(text).middle)}


class Objectives(Protocol):
    """The three objectives on val, measured or estimated."""

    @property
    def f1(self) -> float:
        """The higher the better."""

    @property
    def sensitivity(self) -> float:
        """The lower the better."""

    @property
    def consistency(self) -> float:
        """The higher the better."""


class Ranked(Protocol):
    """What can stand on a front: candidates whose whole grids are known, and those that were asked about in part."""

    @property
    def trial(self) -> int:
        """Its number."""

    @property
    def id(self) -> str:
        """The prompt's id."""

    @property
    def prompt(self) -> Prompt:
        """What is asked."""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What it adds to the seed prompt."""

    @property
    def val(self) -> Objectives:
        """Its scores."""


R = TypeVar("R", bound=Ranked)


def pareto_front(candidates: Sequence[R], least_f1: float) -> tuple[R, ...]:
    """Return the feasible candidates that no feasible one beats in every objective, by falling F1.

    Of candidates with equal scores the one with fewest edits stands for all.
    """
    feasible = [candidate for candidate in candidates if candidate.val.f1 >= least_f1]
    unique: dict[tuple[float, ...], R] = {}
    for candidate in sorted(feasible, key=lambda candidate: (len(candidate.edits), candidate.trial)):
        unique.setdefault(tuple(_gains(candidate)), candidate)
    rivals = list(unique.values())
    front = [candidate for candidate in rivals if not any(_dominates(rival, candidate) for rival in rivals)]
    return tuple(sorted(front, key=lambda candidate: (-candidate.val.f1, candidate.val.sensitivity, candidate.trial)))


def knee(front: Sequence[R], baseline: Ranked) -> R:
    """Pick the compromise: the candidate nearest to the best of all three objectives, each scaled to the front's range.

    Only candidates that are no worse than the baseline in F1 and in sensitivity come into question, where there are
    any.
    """
    start = baseline.val
    better = [
        candidate
        for candidate in front
        if candidate.val.f1 >= start.f1 and candidate.val.sensitivity <= start.sensitivity
    ]
    gains = np.array([_gains(candidate) for candidate in front])
    low, high = gains.min(axis=0), gains.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return min(better or front, key=lambda candidate: float(np.linalg.norm((high - _gains(candidate)) / span)))


def pick(
    front: Sequence[Candidate],
    baseline: Candidate,
    which: str,
    shortest: Candidate | None = None,
    recommended: Candidate | None = None,
) -> Candidate:
    """Pick a candidate as `pick_one` says."""
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
    return float(candidate.length["tokens"] if measure == "tokens" else getattr(candidate.val, measure))


def _gains(candidate: Ranked) -> NDArray[np.float64]:
    """The objectives, all to be maximised."""
    scores = candidate.val
    return np.array([scores.f1, -scores.sensitivity, scores.consistency])


def _dominates(rival: Ranked, candidate: Ranked) -> bool:
    lead = _gains(rival) - _gains(candidate)
    return bool((lead >= 0).all() and (lead > 0).any())
