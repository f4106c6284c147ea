"""Proposals written by a language model, checked before they are used."""

from psopt.proposals.written._checks import DraftChecks
from psopt.proposals.written._proposer import MOST_GROUPS, N_DRAFTS, Refused, WrittenProposer

__all__ = ["MOST_GROUPS", "N_DRAFTS", "DraftChecks", "Refused", "WrittenProposer"]
