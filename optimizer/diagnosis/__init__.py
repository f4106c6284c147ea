"""Diagnosis: which samples a prompt fails, and what they have in common."""

from psopt.diagnosis._diagnosis import Diagnosis, WeakSample, diagnose_predictions
from psopt.diagnosis._groups import Group, find_groups
from psopt.diagnosis._phrase_index import PhraseIndex
from psopt.diagnosis._views import VIEWS, View, need, share_right

__all__ = [
    "VIEWS",
    "Diagnosis",
    "Group",
    "PhraseIndex",
    "View",
    "WeakSample",
    "diagnose_predictions",
    "find_groups",
    "need",
    "share_right",
]
