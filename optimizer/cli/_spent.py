"""What a run took, against what was planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.cli._plan_lines import dollars, rounded, span

if TYPE_CHECKING:
    from psopt.models.chat import Usage
    from psopt.runs import CostEstimate


def spent_line(estimate: CostEstimate, usage: Usage) -> str:
    """Say what was planned and what was spent; nothing of a run that asked nobody.

    Calls that failed are counted apart: the plan knows of none.
    """
    if not usage.made and not usage.failed:
        return ""
    few, many = estimate.calls_range
    planned = f"about {rounded(estimate.calls_expected)} calls"
    if few != many:
        planned += f" ({span(few, many)})"
    asked = f"{usage.made:,} calls"
    if usage.failed:
        asked += f", {usage.failed:,} more that failed"
    if estimate.cost is not None:
        planned += f" for {dollars(estimate.cost)} USD"
        asked += f", {dollars(usage.cost)} USD"
    return f"Planned: {planned}. Asked: {asked}."
