"""Choices of edits that fit into the limits on what is handed back, so that no trial is spent on what nobody ships."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.search._edit_worths import EditWorths, best_within
from psopt.search._front import Candidate, knee
from psopt.search._influences import is_surely_better
from psopt.search._rounds import obvious_choices
from psopt.search.distributed._study_keys import OVERSIZED
from psopt.search_spaces import apply_edits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psopt.search._history import History
    from psopt.search._problem import SearchProblem
    from psopt.search._standings import Standings
    from psopt.search.racing import StoppedCandidate
    from psopt.search_spaces import Edit, Prompt

    Raced = Candidate | StoppedCandidate

TOO_LARGE = "larger than what is handed back: the best of its edits are tried in its place"
"""Why a trial was dropped."""
_SHARE_WITHIN = 8  # one draw in so many keeps to the limits where going beyond them is surely better; chosen


class Fitting:
    """Chooses, of edits that are too many or too long, those that are worth most.

    Where a larger prompt is surely better than the best within the limits, the search goes on from there, and most
    draws may have more tokens, though not more edits.

    Parameters
    ----------
    problem : SearchProblem
    history : History
    standings : Standings
    """

    def __init__(self, problem: SearchProblem, history: History, standings: Standings) -> None:
        self._problem = problem
        self._history = history
        self._standings = standings
        self._fitted: tuple[int, EditWorths] | None = None
        self._compared: tuple[int, Candidate | None] | None = None

    @property
    def worths(self) -> EditWorths:
        """What edits are worth, by all trials so far."""
        evaluated = self._history.evaluated
        if self._fitted is None or self._fitted[0] != len(evaluated):
            by_trial = sorted(evaluated, key=lambda candidate: candidate.trial)
            worths = EditWorths.of(by_trial, self._standings.baseline, self._history.pool)
            self._fitted = (len(evaluated), worths)
        return self._fitted[1]

    @property
    def incumbent(self) -> Raced:
        """What the search goes on from: the best within the limits, or what is surely better than that."""
        return self.sure_beyond or self._standings.best

    @property
    def sure_beyond(self) -> Candidate | None:
        """The best beyond the limits, if it is surely better on val than the best within; else None.

        The limits are lifted one by one: that on tokens first, that on edits only if that is surely better still.
        """
        n_known = len(self._history.candidates)
        if self._compared is None or self._compared[0] != n_known:
            self._compared = (n_known, self._find_sure_beyond())
        return self._compared[1]

    def allows(self, edits: Sequence[Edit]) -> bool:
        """Whether a prompt with these edits may be handed back."""
        return self._problem.limits.allow(self._prompt(edits), edits)

    def best_of(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """Choose what is worth most within the limits; all of the edits if they fit."""
        return tuple(edits) if self.allows(edits) else self._best_within(edits, self.worths)

    def best_of_any_length(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """Choose what is worth most, with more tokens than are handed back but no more edits."""
        if not self._problem.limits.are_too_many(edits):
            return tuple(edits)
        return self._best_within(edits, self.worths, is_any_length=True)

    def obvious(self, new: Sequence[Edit], labels: Sequence[str], *, is_first: bool) -> list[Choice]:
        """Return what is tried first of a round's edits, beside the incumbent's: the best that fits of each choice.

        The first round also tries what the limits leave out, unless they are the user's: all edits, and the best of
        them at any length. Once such a prompt is surely better, further rounds go on from it.
        """
        choices = obvious_choices(new, labels)
        best = self._standings.best
        within = [(self.best_of([*best.edits, *chosen]), False) for chosen in choices]
        beyond: list[Choice] = []
        everything = (*best.edits, *choices[0])
        if sure := self.sure_beyond:
            beyond = [(self.best_of_any_length([*sure.edits, *chosen]), True) for chosen in choices]
            within = within[:1]
        elif is_first and not self._problem.limits.is_firm and not self.allows(everything):
            beyond = [(everything, True), (self.best_of_any_length(everything), True)]
            within = within[: len(choices) - len(beyond)]
        return list(dict.fromkeys([*beyond, *within]))

    def packed(self, merge: Callable[[Sequence[Edit]], tuple[Edit, ...]]) -> tuple[Edit, ...]:
        """Choose, of all edits, what is worth most within the limits once its notes are merged; return it merged."""
        is_any_length = self.sure_beyond is not None
        limits = self._problem.limits

        def allows(chosen: Sequence[Edit]) -> bool:
            merged = merge(chosen)
            return not limits.are_too_many(merged) if is_any_length else self.allows(merged)

        single = [edit for edit in self._history.pool if not edit.merges]
        return merge(best_within(single, self.worths, allows, lambda chosen: limits.tokens(self._prompt(chosen))))

    def in_place_of(self, prompt: Prompt, edits: Sequence[Edit], attributes: Mapping[str, object]) -> Choice | None:
        """Return what is tried in place of a draw of the sampler that does not fit; None for one that does.

        The draw and the edits of the best prompt are what is chosen from, by worths that are drawn from what is known
        of them; equal draws get equal ones.
        """
        if attributes.get(OVERSIZED) or not self._history.candidates or self.allows(edits):
            return None
        number = int(prompt.id, 16)
        beyond = self.sure_beyond if number % _SHARE_WITHIN else None
        best = beyond or self._standings.best
        worths = self.worths.drawn(np.random.default_rng([self._problem.options.seed, number]))
        chosen = {*edits, *best.edits}
        among = [edit for edit in self._history.pool if edit in chosen]
        return self._best_within(among, worths, is_any_length=beyond is not None), beyond is not None

    def _best_within(
        self, edits: Sequence[Edit], worths: EditWorths, *, is_any_length: bool = False
    ) -> tuple[Edit, ...]:
        limits = self._problem.limits

        def allows(chosen: Sequence[Edit]) -> bool:
            return not limits.are_too_many(chosen) if is_any_length else self.allows(chosen)

        return best_within(edits, worths, allows, lambda chosen: limits.tokens(self._prompt(chosen)))

    def _prompt(self, edits: Sequence[Edit]) -> Prompt:
        return apply_edits(self._problem.baseline_prompt, edits)

    def _find_sure_beyond(self) -> Candidate | None:
        if self._problem.limits.is_firm or not self._history.candidates:
            return None
        best = self._standings.best
        if not isinstance(best, Candidate):
            return None
        sure: Candidate | None = None
        for excess in (1, 2):
            tier = [member for member in self._standings.front if member.excess == excess]
            top = knee(tier, self._standings.baseline) if tier else None
            if top and is_surely_better(top, sure or best, self._standings.on_val):
                sure = top
        return sure


Choice = tuple[tuple["Edit", ...], bool]
"""Edits, and whether the limit on tokens was left out of account."""
