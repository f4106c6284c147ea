"""Racing: a candidate is asked about more and more of the grid, and stops once others are clearly better."""

from psopt.search.racing._candidate_races import (
    FEWEST_SAMPLES,
    HELD,
    RIGHT,
    WRONG,
    CandidateRaces,
    RaceCounts,
    StoppedCandidate,
    check_wordings,
    races,
    racing_line,
)
from psopt.search.racing._race import (
    Race,
    RaceResult,
    Rung,
    Schedule,
    is_audited,
    is_no_better,
    sample_gains,
    standard_error,
)

__all__ = [
    "FEWEST_SAMPLES",
    "HELD",
    "RIGHT",
    "WRONG",
    "CandidateRaces",
    "Race",
    "RaceCounts",
    "RaceResult",
    "Rung",
    "Schedule",
    "StoppedCandidate",
    "check_wordings",
    "is_audited",
    "is_no_better",
    "races",
    "racing_line",
    "sample_gains",
    "standard_error",
]
