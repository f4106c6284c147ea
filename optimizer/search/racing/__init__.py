"""Racing: a candidate is asked about more and more of the grid, and stops once others are clearly better."""

from psopt.search.racing._candidate_races import CandidateRaces, check_wordings, races
from psopt.search.racing._race import Race, RaceResult, is_audited, is_no_better, sample_gains, standard_error
from psopt.search.racing._schedule import Rung, Schedule
from psopt.search.racing._stopped_candidate import (
    HELD,
    RIGHT,
    WRONG,
    RaceCounts,
    StoppedCandidate,
    racing_line,
)

__all__ = [
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
