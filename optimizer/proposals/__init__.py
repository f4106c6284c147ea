"""Proposals: edits that may improve what a diagnosis found, drawn from train only, by `rules` or an `llm`."""

from psopt.proposals._checks import LEAST_TEXTS, NoVerbatim, ProposalChecks
from psopt.proposals._pool import propose_edits
from psopt.proposals._quoted_phrases import PLANTED_TEXTS, Planted, planted_texts, with_support
from psopt.proposals.rules._examples import (
    EXAMPLE_LAYERS,
    MOST_EXAMPLE_CHARACTERS,
    MOST_FURTHER_CHARACTERS,
    N_OPEN_EXAMPLES,
    examples_from_train,
)
from psopt.proposals.rules._notes import OPEN_NOTES, merged_edit, merged_notes, note_text, replace_merged
