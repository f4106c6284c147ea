"""Proposals: edits that may mend what a diagnosis found, drawn from train only."""

from psopt.proposals._notes import note_text, notes_from_groups
from psopt.proposals._pool import propose_edits

__all__ = ["note_text", "notes_from_groups", "propose_edits"]
