"""What a run is expected to take, and what it will take as it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.cli._plan_lines import rounded

if TYPE_CHECKING:
    from psopt.models.chat import Usage
    from psopt.runs import CostEstimate

# Share of the calls: the first prompts are the shortest, so that what they take says little of the others.
_ENOUGH = 0.15
# The estimate counts as so many candidates that were seen; chosen.
_PRIOR = 3
# The baseline and two others are asked their whole grids, and say nothing of those that race.
_WHOLE = 3


class Expected:
    """An estimate that is held against what a run takes.

    A candidate that stops takes few calls, and one that goes on takes many: what those so far took in the mean is
    expected of those to come.
    """

    def __init__(self, estimate: CostEstimate) -> None:
        self.estimate = estimate  # made before the first call
        self._is_said = False
        self._made = 0  # calls when the latest candidate, or the latest phase, was told of
        self._asked: list[int] = []  # calls of each candidate that raced
        self._left: float | None = None  # calls at that time

    def begin_phase(self, usage: Usage) -> None:
        """What was asked since the last candidate was for something else, such as a diagnosis."""
        if self._left is not None:
            self._left = max(0.0, self._left - (usage.made - self._made))
        self._made = usage.made

    def count_candidate(self, usage: Usage, n_done: int, n_total: int) -> None:
        """One more candidate is done, in whole or not."""
        if n_done > _WHOLE:
            self._asked.append(usage.made - self._made)
        self._made = usage.made
        n_left = max(0, n_total - n_done)
        a_candidate = (_PRIOR * self.estimate.candidate_calls + sum(self._asked)) / (_PRIOR + len(self._asked))
        search = a_candidate * n_left + self.estimate.diagnosis_calls * n_left / max(1, n_total)
        self._left = search + self.estimate.final_calls

    def calls_left(self, usage: Usage) -> float:
        """How many calls are still to come, about."""
        if self._left is None:
            few, many = self.estimate.calls_range
            return max(0.0, (few + many) / 2 - usage.made)
        return max(0.0, self._left - (usage.made - self._made))

    def cost_at_end(self, usage: Usage) -> float:
        """US dollars of the whole run, the test at its end among them, if further calls take what those so far did."""
        return self._at_end(usage, usage.cost, self.estimate.cost or 0.0)

    def surprise(self, usage: Usage) -> str | None:
        """Say, once, that the run will take more than was said before it."""
        if self._is_said or usage.made < _ENOUGH * self.estimate.calls_range[1]:
            return None
        if self.estimate.cost_range:
            low, high = self.estimate.cost_range
            at_end = self.cost_at_end(usage)
            line = f"cost about {at_end:,.2g} USD, more than the {low:,.2g} to {high:,.2g} USD said before"
        else:
            low, high = self.estimate.tokens_range
            at_end = self._at_end(usage, usage.tokens, self.estimate.tokens)
            line = f"take about {rounded(at_end)} tokens, more than the {rounded(low)} to {rounded(high)} said before"
        self._is_said = at_end > high
        return f"this run will {line}" if self._is_said else None

    def _at_end(self, usage: Usage, amount: float, expected: float) -> float:
        """What there will be: calls to come take what those so far did, and what was expected while those are few."""
        is_enough = usage.made >= _ENOUGH * self.estimate.calls_range[1]
        a_call = amount / max(1, usage.made) if is_enough else expected / max(1, self.estimate.calls_expected)
        return amount + a_call * self.calls_left(usage)
