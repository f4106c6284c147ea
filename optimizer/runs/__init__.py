"""Run directories: what a run leaves on disk."""

from psopt.runs._answers_file import read_answers
from psopt.runs._call_price import CallPrice, asked_about, price_line
from psopt.runs._cost_estimate import CostEstimate, Pace, Phase
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
from psopt.runs._holding import has_found_nothing, held
from psopt.runs._ledger import spending_kept
from psopt.runs._manifest import Found, limits_line, short_line
from psopt.runs._measured import Measured
from psopt.runs._prompt_files import is_prompt_text, read_source
from psopt.runs._prompt_source import PromptSource, TaskPrompt, check_fits, inputs_named, with_prompt_options
from psopt.runs._racing_estimate import whole_grids
from psopt.runs._read_run import read_run
from psopt.runs._reading_back import asks_the_same, read_back
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
from psopt.runs._recorder import RunRecorder
from psopt.runs._run import Run
from psopt.runs._same_prompt import check_same_prompt
from psopt.runs._search_basis import SearchBasis
from psopt.runs._search_estimate import estimate_from, estimate_search
from psopt.runs._settings import N_HELDOUT, RunSettings, load_data
from psopt.runs._study_file import n_evaluated, study_name
from psopt.runs._study_note import StudyNote
from psopt.runs._writing_estimate import judging_phases, rephrasing_phases
from psopt.runs._written_prompt import WrittenForm, WrittenPrompt, difference, read_baseline, write_prompt
from psopt.runs.planning import (
    FULL,
    AskedSizes,
    Limits,
    Plan,
    Planner,
    PlanOptions,
    Sizes,
    is_long,
    limits_of,
    resumed_from,
    run_settings,
    samples_needed,
    shorter_line,
    sized,
    time_line,
    with_changed_limits,
)
from psopt.settings import DataOptions, PromptOptions

__all__ = [
    "ARTIFACTS",
    "CONTRIBUTIONS",
    "FRONT",
    "FULL",
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
    "AskedSizes",
    "CallPrice",
    "CostEstimate",
    "DataOptions",
    "Found",
    "Limits",
    "Measured",
    "Pace",
    "Phase",
    "Plan",
    "PlanOptions",
    "Planner",
    "PromptOptions",
    "PromptSource",
    "Recommendation",
    "Run",
    "RunDirectory",
    "RunRecorder",
    "RunSettings",
    "SearchBasis",
    "Sizes",
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
    "is_long",
    "is_prompt_text",
    "judging_phases",
    "limits_line",
    "limits_of",
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
    "read_answers",
    "read_back",
    "read_baseline",
    "read_entry",
    "read_run",
    "read_source",
    "recommendation_lines",
    "rephrasing_phases",
    "resumed_from",
    "run_settings",
    "samples_needed",
    "short_line",
    "shorter_line",
    "sized",
    "spending_kept",
    "study_name",
    "time_line",
    "unasked_lines",
    "verdict_lines",
    "whole_grids",
    "with_changed_limits",
    "with_prompt_options",
    "write_prompt",
]
