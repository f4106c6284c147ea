"""Where candidates come from that are tried before what the sampler draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from psopt.search._front import Candidate
    from psopt.search._problem import SearchProblem
    from psopt.search._state import SearchState
    from psopt.search.distributed import Coordinator
    from psopt.search.racing import StoppedCandidate
    from psopt.search_spaces import Edit


class Choice(NamedTuple):
    """A candidate to be tried: its edits, which may be new, and the order of its examples, if that is not drawn."""

    edits: tuple[Edit, ...]
    order: str | None = None

    @classmethod
    def like(cls, candidate: Candidate | StoppedCandidate, edits: tuple[Edit, ...], problem: SearchProblem) -> Choice:
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
