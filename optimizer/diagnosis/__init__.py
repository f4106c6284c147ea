"""Diagnosis: on which samples a prompt fails, and what they have in common."""

from psopt.diagnosis._diagnosis import Diagnosis, diagnose_predictions, find_open_slices
from psopt.diagnosis._prompt_report import PromptReport
from psopt.diagnosis._slices import FailureSlice, PhraseIndex, distinct_slices, find_slices, severity
from psopt.diagnosis._suspects import (
    ToLabel,
    find_suspects,
    samples_to_label,
    suspect_labels,
    suspects_line,
    without_suspects,
)
