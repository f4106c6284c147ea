"""Proposals: edits that may mend what a diagnosis found, drawn from train only."""

from psopt.proposals._examples import KINDS, examples_from_train
from psopt.proposals._merging import as_one, by_label, merged_notes, with_merged
from psopt.proposals._notes import note_text, notes_from_groups
from psopt.proposals._pool import propose_edits

__all__ = [
    "KINDS",
    "as_one",
    "by_label",
    "examples_from_train",
    "merged_notes",
    "note_text",
    "notes_from_groups",
    "propose_edits",
    "with_merged",
]
