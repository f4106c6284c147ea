"""Run directories: what a run leaves on disk."""

from psopt.runs._call_price import CallPrice, asked_about, price_line
from psopt.runs._cost_estimate import CostEstimate, Pace, Phase, whole_grids
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
    SUSPECTS,
    TRACKING,
    TRIALS,
    WEAK_SPOTS,
    RunDirectory,
    free_folder,
)
from psopt.runs._front_file import named, pick_entry, pick_note, picked_prompt, prompt_names, read_entry
from psopt.runs._holding import has_found_nothing, held, n_evaluated, study_name
from psopt.runs._kept_predictions import read_predictions
from psopt.runs._ledger import spending_kept
from psopt.runs._manifest import Found, limits_line, short_line
from psopt.runs._measured import Measured
from psopt.runs._prompt_source import (
    PromptSource,
    TaskPrompt,
    check_fits,
    inputs_named,
    is_prompt_text,
    read_source,
    with_prompt_options,
)
from psopt.runs._read_run import read_run
from psopt.runs._recommendation import (
    NOTHING_COMPARED,
    Recommendation,
    asked_for_lines,
    beside_verdict_lines,
    look_lines,
    n_looks,
    quality_name,
    recommendation_lines,
    unasked_lines,
    verdict_lines,
)
from psopt.runs._recorder import RunRecorder, check_same_prompt
from psopt.runs._run import Run
from psopt.runs._search_estimate import SearchBasis, estimate_from, estimate_search
from psopt.runs._settings import N_HELDOUT, RunSettings, load_data
from psopt.runs._study_note import StudyNote
from psopt.runs._writing_estimate import judging_phases, rephrasing_phases
from psopt.runs._written_prompt import (
    WrittenForm,
    WrittenPrompt,
    asks_the_same,
    difference,
    read_back,
    read_baseline,
    write_prompt,
)

__all__ = [
    "ARTIFACTS",
    "CONTRIBUTIONS",
    "FRONT",
    "MANIFEST",
    "NOTHING_COMPARED",
    "N_HELDOUT",
    "PROPOSALS",
    "REPHRASINGS",
    "REPORT",
    "SAMPLES",
    "STUDY",
    "SUSPECTS",
    "TRACKING",
    "TRIALS",
    "WEAK_SPOTS",
    "CallPrice",
    "CostEstimate",
    "Found",
    "Measured",
    "Pace",
    "Phase",
    "PromptSource",
    "Recommendation",
    "Run",
    "RunDirectory",
    "RunRecorder",
    "RunSettings",
    "SearchBasis",
    "StudyNote",
    "TaskPrompt",
    "WrittenForm",
    "WrittenPrompt",
    "asked_about",
    "asked_for_lines",
    "asks_the_same",
    "beside_verdict_lines",
    "check_fits",
    "check_same_prompt",
    "difference",
    "estimate_from",
    "estimate_search",
    "free_folder",
    "has_found_nothing",
    "held",
    "inputs_named",
    "is_prompt_text",
    "judging_phases",
    "limits_line",
    "load_data",
    "look_lines",
    "n_evaluated",
    "n_looks",
    "named",
    "pick_entry",
    "pick_note",
    "picked_prompt",
    "price_line",
    "prompt_names",
    "quality_name",
    "read_back",
    "read_baseline",
    "read_entry",
    "read_predictions",
    "read_run",
    "read_source",
    "recommendation_lines",
    "rephrasing_phases",
    "short_line",
    "spending_kept",
    "study_name",
    "unasked_lines",
    "verdict_lines",
    "whole_grids",
    "with_prompt_options",
    "write_prompt",
]
