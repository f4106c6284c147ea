"""Racing: a candidate is asked about more and more of the grid, and stops once others are clearly better."""

from psopt.search.racing._candidate_races import (
    FEWEST_SAMPLES,
    RaceCounts,
    StoppedCandidate,
    check_wordings,
    races,
    racing_line,
)
from psopt.search.racing._race import Schedule
