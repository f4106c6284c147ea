"""What psopt does, one function per verb: it connects the rooms and computes nothing."""

from psopt.api._check import RESTS_ON_NA, CheckResult, FailingSample, Threshold, check, pinned_samples
from psopt.api._classify import Classified, Classifier, classify, input_columns, prompt_to_classify_with
from psopt.api._compare import Comparison, ComparisonResult, compare
from psopt.api._export import Exported, OtherAnswer, Verification, export
from psopt.api._finishing import check_other_wordings
from psopt.api._measure import diagnose, measure
from psopt.api._migrate import Migration, MigrationStart, Moved, migrate, start_migration
from psopt.api._new_texts import AskingRule, Drift, asking_rule, drift, run_of_baseline
from psopt.api._optimize import optimize, run
from psopt.api._planning import estimate, estimate_measuring, estimate_rephrasing, estimate_run, plan_run
from psopt.api._progress import SearchBar, reading
from psopt.api._prompts import AnyPrompt, prompt_to_show, rephrase
from psopt.api._resume import load_run, resume, settings_to_resume, worker
from psopt.api._searching import search_in
