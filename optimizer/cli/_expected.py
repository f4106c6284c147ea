"""What a run is expected to take, and what it will take as it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.cli._dry_run import rounded

if TYPE_CHECKING:
    from psopt.models.chat import Usage
    from psopt.runs import CostEstimate

# Share of the calls: the first prompts are the shortest, so that what they take says little of the others.
_ENOUGH = 0.15


class Expected:
    """An estimate that is held against what a run takes.

    Parameters
    ----------
    estimate : CostEstimate
        Made before the first call.
    """

    def __init__(self, estimate: CostEstimate) -> None:
        self._estimate = estimate
        self._is_said = False

    def tokens_at_end(self, usage: Usage) -> float:
        """Tokens of the whole run, the test at its end among them, if further calls take what those so far did."""
        return self._at_end(usage, float(usage.tokens))

    def cost_at_end(self, usage: Usage) -> float:
        """The same in US dollars."""
        return self._at_end(usage, usage.cost)

    def surprise(self, usage: Usage) -> str | None:
        """Say, once, that the run will take more than was said before it."""
        if self._is_said or usage.made < _ENOUGH * self._estimate.calls_range[1]:
            return None
        surprise = self._too_dear(usage) if self._estimate.cost_range else self._too_long(usage)
        self._is_said = surprise is not None
        return surprise

    def _too_dear(self, usage: Usage) -> str | None:
        low, high = self._estimate.cost_range or (0.0, 0.0)
        cost = self.cost_at_end(usage)
        if cost <= high:
            return None
        return f"this run will cost about {cost:,.2g} USD, more than the {low:,.2g} to {high:,.2g} USD said before"

    def _too_long(self, usage: Usage) -> str | None:
        low, high = self._estimate.tokens_range
        tokens = self.tokens_at_end(usage)
        if tokens <= high:
            return None
        return (
            f"this run will take about {rounded(tokens)} tokens, more than the {rounded(low)} to {rounded(high)} "
            "said before"
        )

    def _at_end(self, usage: Usage, amount: float) -> float:
        few, many = self._estimate.calls_range
        n_calls = max((few + many) / 2, usage.made)
        return amount / max(1, usage.made) * n_calls
