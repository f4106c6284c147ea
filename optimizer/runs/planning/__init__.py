"""Planning: how large a run may be, so that a limit pays for all of it, its final test included."""

from psopt.runs.planning._effort import EFFORT_CALLS, Limits, PlanOptions
from psopt.runs.planning._minutes import duration, is_long, shorter_line, time_line
from psopt.runs.planning._plan import Plan, run_settings, sized
from psopt.runs.planning._planner import Planner, limits_of
from psopt.runs.planning._power import (
    DifferenceSpread,
    ShownDifferences,
    measured_spread,
    plausible_spread,
    smallest_difference,
    spread_of_run,
)
from psopt.runs.planning._resuming import resumed_from, with_changed_limits
from psopt.runs.planning._samples_needed import samples_needed
from psopt.runs.planning._sizes import FLOOR_TRIALS, FULL, AskedSizes, Sizes, path
from psopt.settings import Effort

__all__ = [
    "EFFORT_CALLS",
    "FLOOR_TRIALS",
    "FULL",
    "AskedSizes",
    "DifferenceSpread",
    "Effort",
    "Limits",
    "Plan",
    "PlanOptions",
    "Planner",
    "ShownDifferences",
    "Sizes",
    "duration",
    "is_long",
    "limits_of",
    "measured_spread",
    "path",
    "plausible_spread",
    "resumed_from",
    "run_settings",
    "samples_needed",
    "shorter_line",
    "sized",
    "smallest_difference",
    "spread_of_run",
    "time_line",
    "with_changed_limits",
]
