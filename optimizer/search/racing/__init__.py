"""Racing: a candidate is asked about ever more of the grid, and stops where others are clearly better."""

from psopt.search.racing._candidate_races import CandidateRaces
from psopt.search.racing._mode import check_wordings, races
from psopt.search.racing._race import Ask, Race, RaceResult, is_audited
from psopt.search.racing._race_counts import RIGHT, WRONG, RaceCounts, racing_line
from psopt.search.racing._rules import NEGLIGIBLE, PairedRule, Stop
from psopt.search.racing._sample_gains import sample_gains
from psopt.search.racing._schedule import Rung, Schedule
from psopt.search.racing._stopped_candidate import (
    HELD,
    NOT_ESTIMATED,
    EstimatedScores,
    StoppedCandidate,
    estimated_scores,
)

__all__ = [
    "HELD",
    "NEGLIGIBLE",
    "NOT_ESTIMATED",
    "RIGHT",
    "WRONG",
    "Ask",
    "CandidateRaces",
    "EstimatedScores",
    "PairedRule",
    "Race",
    "RaceCounts",
    "RaceResult",
    "Rung",
    "Schedule",
    "Stop",
    "StoppedCandidate",
    "check_wordings",
    "estimated_scores",
    "is_audited",
    "races",
    "racing_line",
    "sample_gains",
]
