"""Where candidates come from that are tried before what the sampler draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from psopt.proposals import merged_notes, replace_merged
from psopt.search._shorten import next_shorter
from psopt.search.racing import StoppedCandidate

if TYPE_CHECKING:
    from psopt.search._front import Tried
    from psopt.search._problem import SearchProblem
    from psopt.search._state import SearchState
    from psopt.search.distributed import Coordinator
    from psopt.search_spaces import Edit


class Choice(NamedTuple):
    """A candidate to be tried: its edits, which may be new, and the order of its examples, if that is not drawn."""

    edits: tuple[Edit, ...]
    order: str | None = None

    @classmethod
    def like(cls, candidate: Tried, edits: tuple[Edit, ...], problem: SearchProblem) -> Choice:
        """With these edits, and its examples in the order of another candidate's."""
        has_order = len(problem.orders) > 1 and candidate.prompt.examples
        return cls(edits, candidate.order if has_order else None)


class CandidateSource(Protocol):
    """Something that knows which candidates are worth a trial.

    Each source is asked before every trial, in turn. A new idea for candidates is a class with this method, and its
    place in the list of `Search`.

    Attributes
    ----------
    replaces_queue : bool
        Whether what waits is taken back when this source has candidates.
    """

    replaces_queue: bool

    def next(self, state: SearchState) -> list[Choice]:
        """Return what is to be tried now, best first; nothing where the sampler may go on."""
        ...


class FirstCandidates:
    """Before anything is diagnosed: the baseline, and each of the edits that a search begins with."""

    replaces_queue = False

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    def next(self, state: SearchState) -> list[Choice]:
        """Return them where no worker has begun."""
        if state.history.candidates or state.history.has_queued or self._coordinator.is_busy():
            return []
        return [Choice(()), *(Choice((edit,)) for edit in state.problem.first_edits)]


class ShorterVersions:
    """In the last trials: the best prompt's edits merged by label, and shorter versions of it, one after the other."""

    replaces_queue = True

    def next(self, state: SearchState) -> list[Choice]:
        """Return the first one that was not tried, where the last trials have begun."""
        if not state.history.candidates or not state.is_shortening:
            return []
        base = _base(state)
        choices = [_merged(state, base), *next_shorter(base, state.history.evaluated, state.pool)]
        known = {candidate.id for candidate in state.history.evaluated}
        untried = (edits for edits in choices if state.history.prompt_of(edits, base.order).id not in known)
        return [Choice.like(base, edits, state.problem) for edits in untried][:1]


def _base(state: SearchState) -> Tried:
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


def _merged(state: SearchState, candidate: Tried) -> tuple[Edit, ...]:
    """A candidate's edits merged by label, after all rounds: what rules wrote by rule, notes of a model's by that."""
    problem, task = state.problem, state.problem.task
    if len(state.history.rounds) < problem.options.rounds:
        return candidate.edits

    def replaced(edits: tuple[Edit, ...], merged: list[Edit]) -> tuple[Edit, ...]:
        allowed = merged if problem.no_verbatim is None else problem.no_verbatim.allowed(merged)
        return replace_merged(edits, allowed)

    merged = replaced(candidate.edits, merged_notes(candidate.edits, task.labels, task.noun))
    return merged if problem.proposer is None else replaced(merged, problem.proposer.merge(task, merged))
