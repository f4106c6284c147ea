"""The search for robust prompts: rounds of diagnose, propose, search, in an Optuna study."""

from psopt.search._final_test import nominees, score_on_test, scoring_order, size_lines
from psopt.search._front import UTOPIA, Candidate, knee, pareto_front, pick
from psopt.search._pick import pick_one
from psopt.search._problem import Observer, Propose, SearchProblem
from psopt.search._prompt_limits import PromptLimits, tokens_a_call, tokens_around, tokens_of_mean_text
from psopt.search._read_study import candidates_in, example_orders, keep_baseline, read_study
from psopt.search._reserve import Reserve, check_limits
from psopt.search._rounds import DIAGNOSED_WORDINGS, DiagnosisSize, TrainDiagnoses
from psopt.search._search import Search
from psopt.search._shorten import leave_one_out
from psopt.search._study import choose_trial, chosen_trial, join_study, open_study, show_note
from psopt.search.distributed import (
    PROMPT_ID,
    RACED,
    StoredStudy,
    StudyMetadata,
    open_storage,
    read_metadata,
    without_password,
    write_metadata,
)
from psopt.search.gating import (
    F1_ALONE,
    MARGIN_OF_S,
    MeasuredGain,
    NomineeTest,
    Verdict,
    check_pinned,
    gate,
    untested,
)
from psopt.search.racing import RaceCounts, StoppedCandidate, check_wordings, racing_line
from psopt.settings import RaceMode, SearchOptions

__all__ = [
    "DIAGNOSED_WORDINGS",
    "F1_ALONE",
    "MARGIN_OF_S",
    "PROMPT_ID",
    "RACED",
    "UTOPIA",
    "Candidate",
    "DiagnosisSize",
    "MeasuredGain",
    "NomineeTest",
    "Observer",
    "PromptLimits",
    "Propose",
    "RaceCounts",
    "RaceMode",
    "Reserve",
    "Search",
    "SearchOptions",
    "SearchProblem",
    "StoppedCandidate",
    "StoredStudy",
    "StudyMetadata",
    "TrainDiagnoses",
    "Verdict",
    "candidates_in",
    "check_limits",
    "check_pinned",
    "check_wordings",
    "choose_trial",
    "chosen_trial",
    "example_orders",
    "gate",
    "join_study",
    "keep_baseline",
    "knee",
    "leave_one_out",
    "nominees",
    "open_storage",
    "open_study",
    "pareto_front",
    "pick",
    "pick_one",
    "racing_line",
    "read_metadata",
    "read_study",
    "score_on_test",
    "scoring_order",
    "show_note",
    "size_lines",
    "tokens_a_call",
    "tokens_around",
    "tokens_of_mean_text",
    "untested",
    "without_password",
    "write_metadata",
]
