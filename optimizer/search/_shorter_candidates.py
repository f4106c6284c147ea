"""What the last trials try: the best prompt's edits merged by label, and shorter versions of it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from psopt.proposals import merged_notes, replace_merged
from psopt.search._shorten import next_shorter
from psopt.search._sources import Choice
from psopt.search.racing import StoppedCandidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search._front import Candidate
    from psopt.search._problem import SearchProblem
    from psopt.search._state import SearchState
    from psopt.search_spaces import Edit


class ShorterVersions:
    """Shorter versions of the best prompt, one after the other, in the last trials."""

    replaces_queue = True

    def next(self, state: SearchState) -> list[Choice]:
        """Return the best one that was not tried, where the last trials have begun."""
        if not state.history.candidates or not state.is_shortening:
            return []
        base = _base(state)
        choices = [_merged(state, base), *next_shorter(base, state.history.evaluated, state.pool)]
        known = {candidate.id for candidate in state.history.evaluated}
        untried = (edits for edits in choices if state.history.prompt_of(edits, base.order).id not in known)
        return [Choice.like(base, edits, state.problem) for edits in itertools.islice(untried, 1)]


def _base(state: SearchState) -> Candidate | StoppedCandidate:
    """What is made shorter: the shortest that is as good as the best.

    Both have been asked about all samples: on a part of them much is as good.
    """
    while True:
        best = state.best
        pair = (best, state.short_of(best, state.standing))
        narrow = next((prompt for prompt in pair if state.races.is_narrow(prompt)), None)
        if not isinstance(narrow, StoppedCandidate):
            return pair[1]
        state.history.promote(state.races.further(narrow))


def _merged(state: SearchState, candidate: Candidate | StoppedCandidate) -> tuple[Edit, ...]:
    """A candidate's edits merged by label: what rules wrote by rule, notes of a model's by that."""
    problem = state.problem
    if len(state.history.rounds) < problem.options.rounds:
        return candidate.edits  # what is merged comes after all rounds
    merged = _merged_by_rule(problem, candidate.edits)
    if problem.proposer is None:
        return merged
    return replace_merged(merged, _allowed(problem, problem.proposer.merge(problem.task, merged)))


def _merged_by_rule(problem: SearchProblem, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits with the notes of each label in one, as far as rules have written them."""
    task = problem.task
    return replace_merged(edits, _allowed(problem, merged_notes(edits, task.labels, task.noun)))


def _allowed(problem: SearchProblem, merged: list[Edit]) -> list[Edit]:
    """Merged edits that hold no text of samples, where that is asked for."""
    return merged if problem.no_verbatim is None else problem.no_verbatim.allowed(merged)
