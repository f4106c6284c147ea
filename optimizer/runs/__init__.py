"""Run directories: what a run leaves on disk."""

from psopt.runs._directory import (
    ARTIFACTS,
    CONTRIBUTIONS,
    ERROR_LOG,
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
from psopt.runs._holding import has_found_nothing, held
from psopt.runs._manifest import front_entry, front_file, manifest, pick_entry
from psopt.runs._measured import Measured, measured, measured_in
from psopt.runs._prompt_files import PromptSource, read_prompt, read_source
from psopt.runs._recorder import Record
from psopt.runs._settings import RunSettings
from psopt.runs._study_file import study_name
from psopt.runs._task import task_of

__all__ = [
    "ARTIFACTS",
    "CONTRIBUTIONS",
    "ERROR_LOG",
    "FRONT",
    "MANIFEST",
    "PROPOSALS",
    "REPHRASINGS",
    "REPORT",
    "SAMPLES",
    "STUDY",
    "TRIALS",
    "WEAK_SPOTS",
    "Measured",
    "PromptSource",
    "Record",
    "RunDirectory",
    "RunSettings",
    "free_folder",
    "front_entry",
    "front_file",
    "has_found_nothing",
    "held",
    "manifest",
    "measured",
    "measured_in",
    "pick_entry",
    "read_prompt",
    "read_source",
    "study_name",
    "task_of",
]
