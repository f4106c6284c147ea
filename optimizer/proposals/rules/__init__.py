"""Proposals by rule, free of charge: one file for each kind of edit, and one for merging notes."""

from psopt.proposals.rules._definitions import definitions_from_subclasses, definitions_from_task
from psopt.proposals.rules._examples import (
    EXAMPLE_LAYERS,
    MOST_OPEN_EXAMPLES,
    examples_from_train,
    examples_of_open_answers,
)
from psopt.proposals.rules._merging import merged_edit, merged_notes, replace_merged
from psopt.proposals.rules._notes import note_text, notes_from_slices
from psopt.proposals.rules._open_notes import OPEN_NOTES, notes_on_open_answers, notes_on_topics

__all__ = [
    "EXAMPLE_LAYERS",
    "MOST_OPEN_EXAMPLES",
    "OPEN_NOTES",
    "definitions_from_subclasses",
    "definitions_from_task",
    "examples_from_train",
    "examples_of_open_answers",
    "merged_edit",
    "merged_notes",
    "note_text",
    "notes_from_slices",
    "notes_on_open_answers",
    "notes_on_topics",
    "replace_merged",
]
