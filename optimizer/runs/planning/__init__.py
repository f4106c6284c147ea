"""Planning: how large a run may be, so that a limit pays for all of it, its final test included."""

from psopt.runs.planning._effort import DEFAULT_EFFORT, EFFORT_CALLS, Effort, Limits, check_effort
from psopt.runs.planning._plan import Plan
from psopt.runs.planning._sizes import FLOOR, FULL, N_STEPS, AskedSizes, Sizes, sizes_at

__all__ = [
    "DEFAULT_EFFORT",
    "EFFORT_CALLS",
    "FLOOR",
    "FULL",
    "N_STEPS",
    "AskedSizes",
    "Effort",
    "Limits",
    "Plan",
    "Sizes",
    "check_effort",
    "sizes_at",
]
