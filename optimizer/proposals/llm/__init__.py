"""Proposals written by a language model, checked before they are used."""

from psopt.proposals.llm._draft_checks import DraftChecks
from psopt.proposals.llm._proposer import MOST_SLICES, N_DRAFTS, LLMProposer, RefusedDraft

__all__ = ["MOST_SLICES", "N_DRAFTS", "DraftChecks", "LLMProposer", "RefusedDraft"]
