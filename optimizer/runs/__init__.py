"""Run directories: what a run leaves on disk."""

from psopt.runs._directory import (
    ARTIFACTS,
    CONTRIBUTIONS,
    FRONT,
    MANIFEST,
    PROPOSALS,
    REPHRASINGS,
    REPORT,
    SAMPLES,
    STUDY,
    TRIALS,
    WEAK_SPOTS,
    RunDirectory,
    free_folder,
)
from psopt.runs._manifest import front_entry, front_file, manifest, pick_entry
from psopt.runs._settings import RunSettings

__all__ = [
    "ARTIFACTS",
    "CONTRIBUTIONS",
    "FRONT",
    "MANIFEST",
    "PROPOSALS",
    "REPHRASINGS",
    "REPORT",
    "SAMPLES",
    "STUDY",
    "TRIALS",
    "WEAK_SPOTS",
    "RunDirectory",
    "RunSettings",
    "free_folder",
    "front_entry",
    "front_file",
    "manifest",
    "pick_entry",
]
