"""What the last trials try: the best prompt's edits merged by label, and shorter versions of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.proposals import merged_definitions, merged_notes, replace_merged
from psopt.search._shorten import next_shorter
from psopt.search.racing import StoppedCandidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.search._fitting import Fitting
    from psopt.search._front import Candidate
    from psopt.search._history import History
    from psopt.search._problem import SearchProblem
    from psopt.search._standings import Standings
    from psopt.search.racing import CandidateRaces
    from psopt.search_spaces import Edit


class ShorterCandidates:
    """Chooses shorter versions of the best prompt.

    Parameters
    ----------
    problem : SearchProblem
    history : History
    standings : Standings
    races : CandidateRaces
        Ask more about a prompt of which too little is known.
    fitting : Fitting
    """

    def __init__(
        self,
        problem: SearchProblem,
        history: History,
        standings: Standings,
        races: CandidateRaces,
        fitting: Fitting,
    ) -> None:
        self._problem = problem
        self._history = history
        self._standings = standings
        self._races = races
        self._fitting = fitting

    def base(self) -> Candidate | StoppedCandidate:
        """Return what is made shorter: the shortest that is as good as the best.

        Both have been asked about all samples: on a part of them much is as good.
        """
        while True:
            best = self._standings.best
            pair = (best, self._standings.short_of(best, self._standings.standing))
            narrow = next((prompt for prompt in pair if self._races.is_narrow(prompt, self._standings.baseline)), None)
            if not isinstance(narrow, StoppedCandidate):
                return pair[1]
            self._history.promote(self._races.further(narrow, self._standings.baseline))

    def untried(self, base: Candidate | StoppedCandidate, *, is_first: bool) -> list[tuple[Edit, ...]]:
        """Return the edits that may be tried next, best first, as far as no candidate has had them.

        Parameters
        ----------
        base : Candidate or StoppedCandidate
            What is made shorter.
        is_first : bool
            Whether nothing shorter was tried yet: then what is worth most within the limits goes first.
        """
        history = self._history
        choices = [self._merged(base), *next_shorter(base, history.evaluated, history.pool)]
        is_nothing_merged = len(history.rounds) == self._problem.options.rounds  # that is stored as one more round
        if is_first and is_nothing_merged:
            choices.insert(0, self._fitting.packed(self._merged_by_rule))
        return [edits for edits in choices if history.find(history.prompt_of(edits, base.order).id) is None]

    def _merged(self, candidate: Candidate | StoppedCandidate) -> tuple[Edit, ...]:
        """A candidate's edits merged by label: what rules wrote by rule, notes of a model's by that."""
        if len(self._history.rounds) < self._problem.options.rounds:
            return candidate.edits  # what is merged comes after all rounds
        merged = self._merged_by_rule(candidate.edits)
        if self._problem.proposer is None:
            return merged
        return replace_merged(merged, self._allowed(self._problem.proposer.merge(self._problem.task, merged)))

    def _merged_by_rule(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """Edits with the notes and the definitions of each label in one, as far as rules have written them."""
        task = self._problem.task
        merged = merged_definitions(edits, task.labels) + merged_notes(edits, task.labels, task.noun)
        return replace_merged(edits, self._allowed(merged))

    def _allowed(self, merged: list[Edit]) -> list[Edit]:
        """Merged edits that hold no text of samples, where that is asked for."""
        check = self._problem.no_verbatim
        return merged if check is None else check.allowed(merged)
