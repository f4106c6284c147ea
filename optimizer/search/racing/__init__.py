"""Racing: a candidate is asked about ever more of the grid, and stops where others are clearly better."""

from psopt.search.racing._race import Ask, Race, RaceResult, is_audited
from psopt.search.racing._rules import RULES, AnytimeRule, PairedRule, Rule, Stop
from psopt.search.racing._sample_gains import sample_gains
from psopt.search.racing._schedule import Rung, Schedule

__all__ = [
    "RULES",
    "AnytimeRule",
    "Ask",
    "PairedRule",
    "Race",
    "RaceResult",
    "Rule",
    "Rung",
    "Schedule",
    "Stop",
    "is_audited",
    "sample_gains",
]
