"""What a run will be like: its sizes, what they are expected to take, and under which limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psopt.runs._cost_estimate import CostEstimate, Phase
    from psopt.runs.planning._effort import Limits
    from psopt.runs.planning._sizes import Sizes


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will be like.

    Attributes
    ----------
    effort : str
        ``light``, ``medium``, ``heavy`` or ``full``; ``limits`` where only the user's limits decide.
    sizes : Sizes
        Samples, wordings, candidates and rounds.
    limits : Limits
        What the run may take at most.
    estimate : CostEstimate
        What it is expected to take, phase by phase.
    warnings : tuple of str
        What is to be said of it before it starts.
    """

    effort: str
    sizes: Sizes
    limits: Limits
    estimate: CostEstimate
    warnings: tuple[str, ...] = ()

    @property
    def phases(self) -> tuple[Phase, ...]:
        """What it takes, in the order in which it comes."""
        return self.estimate.phases

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data, as run.json keeps it."""
        phases = [
            {"what": phase.what, "calls": phase.calls, "tokens": phase.tokens, "cost_usd": phase.cost}
            for phase in self.phases
        ]
        return {
            "effort": self.effort,
            "sizes": asdict(self.sizes),
            "limits": self.limits.to_dict(),
            "calls": self.estimate.calls,
            "tokens": self.estimate.tokens,
            "cost_usd": self.estimate.cost,
            "phases": phases,
            "warnings": list(self.warnings),
        }
