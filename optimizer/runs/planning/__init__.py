"""Planning: how large a run may be, so that a limit pays for all of it, including its final test."""

from psopt.runs.planning._minutes import duration, rate_in_words, run_duration, run_lines, time_line
from psopt.runs.planning._plan import (
    EFFORT_CALLS,
    Limits,
    Plan,
    Planner,
    effort_for,
    least_calls,
    resumed_from,
    run_settings,
    sized,
    with_changed_limits,
)
from psopt.runs.planning._samples_needed import samples_needed, samples_to_see
from psopt.runs.planning._sizes import FLOOR_TRIALS, Sizes, asked_sizes, path
