"""Is a difference between two prompts one for the better, and is it chance?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from psopt.metrics import PairedDifference

OBJECTIVES: dict[str, Literal["maximize", "minimize"]] = {
    "f1": "maximize",
    "sensitivity": "minimize",
    "consistency": "maximize",
}
SIGNIFICANT = 0.05


def verdict(measure: str, difference: PairedDifference | None) -> str:
    """``better``, ``worse`` or ``no difference``, at the 5 % level."""
    if difference is None or difference.p_value >= SIGNIFICANT:
        return "no difference"
    gained = difference.difference > 0
    return "better" if gained == (OBJECTIVES[measure] == "maximize") else "worse"
