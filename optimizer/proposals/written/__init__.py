"""Proposals written by a language model, checked before they are used."""

from psopt.proposals.written._checks import DraftChecks
from psopt.proposals.written._proposer import Refused, WrittenProposer

__all__ = ["DraftChecks", "Refused", "WrittenProposer"]
