"""What a run may spend, over all its models, and what it has spent."""

from __future__ import annotations

from dataclasses import dataclass, field

from psopt.errors import BudgetReachedError


@dataclass(slots=True)
class Usage:
    """What was asked and paid.

    Attributes
    ----------
    made, cached, failed : int
        Requests that were answered, answers that were had already, and attempts that came to nothing.
    tokens_in, tokens_out : int
    cost : float
        US dollars.
    """

    made: int = 0
    cached: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.tokens_in + self.tokens_out


@dataclass(slots=True, eq=False)
class Budget:
    """Limits that all models of a run share; None is no limit.

    A request reserves the most that it can take before it is sent, so that no limit is ever passed, and settles for
    what it took. Where the rest is too small for another request the budget is reached.

    Attributes
    ----------
    max_calls, max_tokens : int or None
    max_cost : float or None
        US dollars.
    usage : Usage
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    usage: Usage = field(default_factory=Usage)
    _reserved: Usage = field(default_factory=Usage)

    def reserve(self, tokens: int, cost: float) -> bool:
        """Set aside what one request may take; False if that must wait for what is under way to settle.

        Raises
        ------
        BudgetReachedError
            If it is more than is left.
        """
        held = self._reserved
        if reason := self._too_much(Usage(), tokens, cost):
            raise BudgetReachedError(reason)
        if self._too_much(held, tokens, cost):
            return False
        held.made += 1
        held.tokens_in += tokens
        held.cost += cost
        return True

    def _too_much(self, held: Usage, tokens: int, cost: float) -> str | None:
        """Say which limit another request would pass, beside what is held for others."""
        used = self.usage
        if self.max_calls is not None and used.made + used.failed + held.made + 1 > self.max_calls:
            return f"--max-calls {self.max_calls} is reached"
        if self.max_tokens is not None and used.tokens + held.tokens + tokens > self.max_tokens:
            return f"--max-tokens-total {self.max_tokens} is reached ({used.tokens} used)"
        if self.max_cost is not None and used.cost + held.cost + cost > self.max_cost:
            return f"--max-cost {self.max_cost:g} USD is reached ({used.cost:.4f} spent)"
        return None

    def release(self, tokens: int, cost: float) -> None:
        """Take a reservation back."""
        self._reserved.made -= 1
        self._reserved.tokens_in -= tokens
        self._reserved.cost -= cost
