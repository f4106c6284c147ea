"""What of a search may be handed back: prompts within the limits on size, and larger ones whose gain is sure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from psopt.search._front import feasible_of, gains_of, is_no_worse, knee, least_gains, pareto_front
from psopt.search._influences import is_surely_better

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search._front import Candidate
    from psopt.search._problem import SearchProblem
    from psopt.search._standings import Standings


@dataclass(frozen=True, eq=False)
class HandedBack:
    """A front by limits on size, which are lifted where that is sure.

    Attributes
    ----------
    front : tuple of Candidate
        The Pareto front on val; who is within the limits counts as beaten only by others within them. `excess` is what
        is beyond the limits that were lifted.
    sure_beyond : Candidate or None
        The best beyond the limits, if it is surely better on val than the best within. Where that is the baseline, the
        best beyond without such a test: the gate will put it to one, against the baseline.
    best_within : Candidate
        The knee of what is within the limits.
    eligible : tuple of Candidate
        All that may be handed back, on the front or not: feasible, and within the limits that were not lifted.
    """

    front: tuple[Candidate, ...]
    sure_beyond: Candidate | None
    best_within: Candidate
    eligible: tuple[Candidate, ...]

    @classmethod
    def of(cls, candidates: Sequence[Candidate], standings: Standings, problem: SearchProblem) -> HandedBack:
        """Look at the candidates whose whole grids are known.

        The limits are lifted one by one: that on tokens first, that on edits only if that is surely better still.
        """
        limits, baseline = problem.limits, standings.baseline
        excesses = [standings.excess(candidate.prompt, candidate.edits) for candidate in candidates]
        sized = [
            replace(candidate, excess=excess) if excess else candidate
            for candidate, excess in zip(candidates, excesses, strict=True)
        ]
        front = pareto_front(sized, standings.least_f1)
        within = knee(front, baseline)
        sure: Candidate | None = None
        for excess in () if limits.is_firm else (1, 2):
            tier = [member for member in front if member.excess == excess]
            top = _better(tier, baseline)
            is_only_one = sure is None and within.id == baseline.id
            if top and (is_only_one or is_surely_better(top, sure or within, standings.on_val)):
                sure = top
        lifted = sure.excess if sure is not None else 0
        if lifted:
            front = tuple(
                replace(member, excess=max(0, member.excess - lifted)) if member.excess else member for member in front
            )
        feasible = feasible_of(candidates, standings.least_f1)
        eligible = tuple(
            candidate for candidate in feasible if standings.excess(candidate.prompt, candidate.edits) <= lifted
        )
        return cls(front, sure, within, eligible)


def _better(tier: Sequence[Candidate], baseline: Candidate) -> Candidate | None:
    """The knee of candidates of one size; None where they are none, or none is as good as the baseline."""
    if not tier:
        return None
    best = knee(tier, baseline)  # as good as the baseline if any is
    return best if is_no_worse(gains_of(best), least_gains(baseline)) else None
