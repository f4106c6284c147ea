"""Run directories: what a run leaves on disk."""

from psopt.runs._as_in_run import as_in_run, as_measured, lm_as_in_run, seeds_of, set_in
from psopt.runs._call_price import CallPrice, asked_about, price_line
from psopt.runs._cost_estimate import (
    WRITTEN,
    CostEstimate,
    Grid,
    Pace,
    Phase,
    judging_phases,
    rephrasing_phases,
    text_phases,
)
from psopt.runs._directory import (
    CONTRIBUTIONS,
    FRONT,
    MANIFEST,
    PROGRAM,
    PROPOSALS,
    REPHRASINGS,
    REPORT,
    STUDY,
    SUSPECTS,
    TRACKING,
    TRIALS,
    WEAK_SPOTS,
    RunDirectory,
    cache_of,
    free_folder,
    text_to_read,
)
from psopt.runs._front_file import named, pick_entry, pick_note, picked_prompt, prompt_names, read_entry, scores_of
from psopt.runs._holding import check_no_run, discard, held, n_evaluated, study_name
from psopt.runs._ledger import spending_kept
from psopt.runs._manifest import Found, limits_line
from psopt.runs._measured import Measured, client_options
from psopt.runs._predictions_file import read_predictions
from psopt.runs._prompt_source import (
    PromptSource,
    TaskPrompt,
    check_fits,
    inputs_named,
    is_prompt_text,
    of_configuration,
    prompts_in,
    read_source,
    with_prompt_options,
)
from psopt.runs._recommendation import (
    NOTHING_COMPARED,
    Recommendation,
    asked_for_lines,
    best_found,
    differences_line,
    look_lines,
    losses_line,
    n_looks,
    nearest_to_pass,
    quality_name,
    recommendation_lines,
    unasked_lines,
    verdict_lines,
    worse_line,
)
from psopt.runs._recorder import RunRecorder, check_same_prompt
from psopt.runs._run import Run, read_run, scores_and_bounds
from psopt.runs._search_estimate import SearchBasis, whole_grids
from psopt.runs._settings import N_HELDOUT, RunSettings, load_data
from psopt.runs._written_prompt import (
    WrittenForm,
    WrittenPrompt,
    asks_the_same,
    configuration_of,
    difference,
    keeps_instructions,
    read_back,
    read_baseline,
    write_prompt,
)
