"""How much a run may take: an effort by name, and limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psopt.models.chat import LMConfig
    from psopt.runs._cost_estimate import CostEstimate
    from psopt.settings import Effort

# Chosen: light is in the range of what MIPROv2's light asks. Each further effort asks three to four times as much, and
# its final test can show a difference that is smaller by a third.
EFFORT_CALLS: dict[str, int] = {"light": 5_000, "medium": 20_000, "heavy": 60_000}
"""So many calls at most."""
BY_LIMITS = "limits"
"""What stands for the effort where only limits of the user's decide."""
# What is expected may come out higher; the limit itself is kept by whoever asks.
_PLANNED_SHARE = 0.92


def effort_for(asked: Effort | None, lm: LMConfig, *, is_free: bool) -> str:
    """Return the effort of a run: one of `Effort`, or `BY_LIMITS`.

    Where none is asked for, it is ``full`` if a further answer costs next to nothing, as with minilm and sim; else, be
    it money or time, ``light`` where nothing limits them.
    """
    if asked is not None:
        return asked
    if is_free:
        return "full"
    return "light" if Limits.of_user(lm) == Limits() else BY_LIMITS


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take at most; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None  # US dollars

    @classmethod
    def of_user(cls, lm: LMConfig) -> Limits:
        """The limits that the user has set."""
        return cls(lm.max_calls, lm.max_tokens_total, lm.max_cost)

    def within(self, effort: str) -> Limits:
        """The same, and no more calls than an effort's."""
        calls = [most for most in (self.calls, EFFORT_CALLS.get(effort)) if most is not None]
        return replace(self, calls=min(calls, default=None))

    def pay(self, estimate: CostEstimate, *, with_room: bool = False) -> bool:
        """Whether they allow what is expected, on request with room for more than that."""
        share = _PLANNED_SHARE if with_room else 1.0
        return all(limit is None or amount <= share * limit for amount, limit in self._beside(estimate))

    def least_for(self, estimate: CostEstimate) -> Limits:
        """Return what these limits would have to be for an estimate that they don't pay."""
        wanted = [None if limit is None else amount / _PLANNED_SHARE for amount, limit in self._beside(estimate)]
        calls, tokens, cost = wanted
        return Limits(None if calls is None else round(calls), None if tokens is None else round(tokens), cost)

    def _beside(self, estimate: CostEstimate) -> tuple[tuple[float, float | None], ...]:
        """What is expected, beside its limit."""
        amounts = estimate.calls, estimate.tokens, estimate.cost or 0.0
        return tuple(zip(amounts, (self.calls, self.tokens, self.cost), strict=True))

    def __str__(self) -> str:
        """Return them as people say them: ``5,000 calls, 2 USD``."""
        amounts = [
            "" if self.calls is None else f"{self.calls:,} calls",
            "" if self.tokens is None else f"{self.tokens:,} tokens",
            "" if self.cost is None else f"{self.cost:g} USD",
        ]
        return ", ".join(amount for amount in amounts if amount)
