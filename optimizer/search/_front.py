"""The Pareto front of a search, and its knee."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from psopt.evaluation import objective_gains
from psopt.models.chat import tokens_of_text
from psopt.search_spaces import ORDERS, render_fixed
from psopt.settings import GATE_MARGIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.evaluation import Scores
    from psopt.search_spaces import Edit, Prompt


class EstimatedScores(NamedTuple):
    """F1, S and, where it is defined, C of a candidate whose grid is partly known; what they mean is as in `Scores`."""

    f1: float
    sensitivity: float
    consistency: float | None = None
    is_hollow: bool = False
    is_one_answer: bool = False

    @property
    def gains(self) -> NDArray[np.float64]:
        return objective_gains(self)


@dataclass(frozen=True, eq=False)
class Tried:
    """A prompt that was tried, completely or in part: what it adds to the original one, and its scores on val.

    `order` is that of its examples. `audit` is set if it would have stopped in its race but was asked further as a
    check: ``right`` or ``wrong`` says whether stopping would have been right.
    """

    trial: int
    prompt: Prompt
    edits: tuple[Edit, ...]
    val: Scores | EstimatedScores
    order: str = field(default=ORDERS[0], kw_only=True)
    audit: str = field(default="", kw_only=True)

    @property
    def id(self) -> str:
        return self.prompt.id


@dataclass(frozen=True, eq=False)
class Candidate(Tried):
    """A prompt whose whole grid on val is known, with its scores on test once it has been tested."""

    val: Scores
    test: Scores | None = None

    def __repr__(self) -> str:
        return f"<Candidate {self.id}: trial {self.trial}, {len(self.edits)} edits, val {self.val!r}>"

    @property
    def length(self) -> dict[str, int]:
        """The length of the prompt without the text to classify: in characters, and in tokens (approximate)."""
        text = render_fixed(self.prompt)
        return {"characters": len(text), "tokens": round(tokens_of_text(text).middle)}


UTOPIA = np.array([1.0, 0.0, 1.0])  # the best possible gains: F1, -S and, where it is defined, C
_WORST_STEADINESS = -1.0  # S = 1

R = TypeVar("R", bound=Tried)


def pareto_front(candidates: Sequence[R], least_f1: float) -> tuple[R, ...]:
    """Return the feasible candidates that no other feasible one dominates, by descending F1.

    Of candidates with equal scores, the one with the fewest edits is kept. One whose S and C prove nothing is left out:
    it gives nearly everything one label with hardly more F1 than a constant answer, or guesses (see `why_worthless`).
    """
    unique: dict[tuple[float, ...], R] = {}
    feasible = feasible_of(candidates, least_f1)
    for candidate in sorted(feasible, key=lambda candidate: (len(candidate.edits), candidate.trial)):
        unique.setdefault(tuple(candidate.val.gains), candidate)
    rivals = list(unique.values())
    front = [candidate for candidate in rivals if not any(_dominates(rival, candidate) for rival in rivals)]
    return tuple(sorted(front, key=lambda candidate: (-candidate.val.f1, candidate.val.sensitivity, candidate.trial)))


def feasible_of(candidates: Sequence[R], least_f1: float) -> list[R]:
    """Return the candidates with at least this F1: those that are not hollow, else guesses, else all.

    One that gives nearly everything one answer may be nearer to all than a guess is: the middle of a scale.
    """
    feasible = [candidate for candidate in candidates if candidate.val.f1 >= least_f1]
    guesses = [candidate for candidate in feasible if not candidate.val.is_one_answer]
    return [candidate for candidate in guesses if not candidate.val.is_hollow] or guesses or feasible


def knee(front: Sequence[R], baseline: Candidate) -> R:
    """Pick the compromise: the candidate nearest to F1 = 1, S = 0 and C = 1 (docs/decisions.md has the measurements).

    Only candidates that are not worse than the baseline in F1 or sensitivity by more than the gate's margin are
    considered, if there are any.

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
