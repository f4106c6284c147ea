"""Diagnosis: which samples a prompt fails, and what they have in common."""

from psopt.diagnosis._blocks import Block, find_blocks
from psopt.diagnosis._clusters import Embed, find_clusters
from psopt.diagnosis._diagnosis import Diagnosis, WeakSample, diagnose_predictions
from psopt.diagnosis._evidence import Evidence, evidence
from psopt.diagnosis._groups import Group, find_groups
from psopt.diagnosis._joint import JointView, carried_by, joint_view
from psopt.diagnosis._phrase_index import PhraseIndex
from psopt.diagnosis._prompt_report import PromptReport
from psopt.diagnosis._telling_words import telling_words
from psopt.diagnosis._views import need

__all__ = [
    "Block",
    "Diagnosis",
    "Embed",
    "Evidence",
    "Group",
    "JointView",
    "PhraseIndex",
    "PromptReport",
    "WeakSample",
    "carried_by",
    "diagnose_predictions",
    "evidence",
    "find_blocks",
    "find_clusters",
    "find_groups",
    "joint_view",
    "need",
    "telling_words",
]
