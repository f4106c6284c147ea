"""Racing: a candidate is asked about ever more of the grid, and stops where others are clearly better."""

from psopt.search.racing._candidate_races import check_wordings, races
from psopt.search.racing._race import Race, RaceResult, is_audited
from psopt.search.racing._sample_gains import sample_gains
from psopt.search.racing._schedule import Rung, Schedule
from psopt.search.racing._stopped_candidate import RaceCounts, StoppedCandidate, racing_line

__all__ = [
    "Race",
    "RaceCounts",
    "RaceResult",
    "Rung",
    "Schedule",
    "StoppedCandidate",
    "check_wordings",
    "is_audited",
    "races",
    "racing_line",
    "sample_gains",
]
