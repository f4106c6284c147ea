"""The search for robust prompts: rounds of diagnose, propose, search, in an Optuna study."""

from psopt.search._final_test import nominees, score_on_test, scoring_order, size_line
from psopt.search._front import Candidate, knee, pareto_front
from psopt.search._problem import Observer, SearchProblem
from psopt.search._prompt_limits import PromptLimits, tokens_a_call, tokens_around, tokens_of_mean_text
from psopt.search._reserve import ENOUGH_TESTED, Reserve, check_limits, rounded_up
from psopt.search._rounds import DIAGNOSED_WORDINGS, TrainDiagnoses
from psopt.search._search import Search
from psopt.search._shorten import leave_one_out
from psopt.search._study import candidates_in, join_study, open_study, read_study, show_note
