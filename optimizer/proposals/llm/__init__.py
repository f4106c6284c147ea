"""Proposals written by a language model, checked before they are used."""

from psopt.proposals.llm._draft_checks import DraftChecks, DraftError
from psopt.proposals.llm._proposer import MOST_SLICES, LLMProposer

__all__ = ["MOST_SLICES", "DraftChecks", "DraftError", "LLMProposer"]
