"""Other ways to say a sentence of a task description, by what the sentence is read as.

One set is to search with and another, disjoint, to hold out. `_sentence_readings` names the slots: ``{o}`` what is
classified ("the question"), ``{this}`` one of them, pointed at, ``{c}`` by what ("its topic"), ``{g}`` the same in full
("the topic of the text"), ``{k}`` into what, or nothing (" into one of the given classes"), ``{w}`` an indirect
question (``{n}`` where it may stand for a noun), ``{Q}`` and ``{q}`` the same asked directly, at the start and within a
sentence, ``{f}`` what is asked for as a noun (``{s}`` where that is short), ``{x}`` and ``{y}`` a choice and what it is
of, ``{ab}`` alternatives, ``{d}`` and ``{D}`` what else the sentence says. ``{it}``, ``{is}``, ``{does}``,
``{belongs}`` and ``{falls}`` go with the number of ``{o}``.
"""

from __future__ import annotations

from collections.abc import Mapping

from psopt.rephrasings._heldout_ways import HELDOUT_WAYS
from psopt.rephrasings._search_ways import SEARCH_WAYS

Ways = Mapping[str, tuple[str, ...]]
"""Templates by the reading that they belong to."""

__all__ = ["HELDOUT_WAYS", "SEARCH_WAYS", "Ways"]
