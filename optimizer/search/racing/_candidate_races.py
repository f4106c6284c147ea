"""The races of a search's candidates: against those that may stand on the front and the baseline, on val."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.search.racing._race import Race, RaceResult, is_audited
from psopt.search.racing._rules import NEGLIGIBLE, PairedRule
from psopt.search.racing._schedule import Schedule
from psopt.search.racing._stopped_candidate import StoppedCandidate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from psopt.evaluation import Evaluator
    from psopt.search._front import Candidate
    from psopt.search._options import SearchOptions
    from psopt.search.racing._schedule import Rung
    from psopt.search_spaces import Prompt

    Raced = Candidate | StoppedCandidate


class CandidateRaces:
    """Lets the candidates of a search race, one after the other, and compares them by what they were asked about.

    Every decision is made on the answers to a whole rung, so that it does not matter in which order they came.

    Parameters
    ----------
    evaluator : Evaluator
    options : SearchOptions
    are_run : bool
        Whether candidates race; else nobody stops, and nothing is asked here.
    """

    def __init__(self, evaluator: Evaluator, options: SearchOptions, *, are_run: bool) -> None:
        self._evaluator = evaluator
        self._options = options
        self.are_run = are_run
        self._schedule: Schedule | None = None
        self._races: dict[float, Race] = {}

    def run(
        self,
        prompt: Prompt,
        rivals: Iterable[Raced],
        baseline: Candidate,
        *,
        is_shortening: bool,
    ) -> RaceResult:
        """Ask about a prompt as far as it gets; nothing at all where nobody races.

        A shorter version of the best prompt is good enough where it loses no more than one standard error: it stops
        only where the bounds say that it loses in every objective.

        Parameters
        ----------
        prompt : Prompt
        rivals : iterable of candidates
            All that may come to stand on the front.
        baseline : Candidate
        is_shortening : bool
            Whether the prompt is tried because it is shorter.
        """
        if not self.are_run:
            return RaceResult(None, None)
        race = self._race(baseline, 0.0 if is_shortening else NEGLIGIBLE)
        answers = {rival.id: self._answers(rival) for rival in (*rivals, baseline)}
        return race.run(prompt.id, lambda cells: self._evaluator.answers(prompt, "val", cells), answers, baseline.id)

    def cells(self, rung: Rung, baseline: Candidate) -> NDArray[np.bool_]:
        """Return a rung's cells, (N, Q)."""
        return self._schedule_of(baseline).cells(rung)

    def is_whole(self, rung: Rung, baseline: Candidate) -> bool:
        """Whether a rung is the whole grid."""
        return rung == self._schedule_of(baseline).whole

    def is_narrow(self, candidate: Raced, baseline: Candidate) -> bool:
        """Whether a candidate was asked about a part of the samples only."""
        n_samples = self._schedule_of(baseline).n_samples
        return isinstance(candidate, StoppedCandidate) and candidate.rung.samples < n_samples

    def audit_rung(self, prompt: Prompt, rung: Rung, baseline: Candidate) -> Rung | None:
        """Return how much further a prompt is asked about that has stopped at a rung; None if it is not audited."""
        if not is_audited(prompt.id, self._options.seed):
            return None
        schedule = self._schedule_of(baseline)
        return schedule.held_at if rung != schedule.held_at else schedule.after(rung)

    def after(self, candidate: StoppedCandidate, baseline: Candidate) -> Rung:
        """Return the rung that a candidate is asked about next."""
        return self._schedule_of(baseline).after(candidate.rung)

    def ask(self, prompt: Prompt, rung: Rung, baseline: Candidate) -> None:
        """Ask about a rung of a prompt."""
        self._evaluator.answers(prompt, "val", self.cells(rung, baseline))

    def further(self, candidate: StoppedCandidate, baseline: Candidate) -> StoppedCandidate:
        """Ask about the next rung of a candidate that is held."""
        rung = self.after(candidate, baseline)
        self.ask(candidate.prompt, rung, baseline)
        return replace(candidate, rung=rung)

    def lead(self, candidate: Raced, rival: Raced, baseline: Candidate) -> NDArray[np.float64]:
        """Return by how much a candidate is ahead of a rival, in F1, -S and C, on each sample of both: (n, 3)."""
        whole = self._schedule_of(baseline).whole
        rung = min(prompt.rung if isinstance(prompt, StoppedCandidate) else whole for prompt in (candidate, rival))
        return self._race(baseline).lead(candidate.id, self._answers(candidate), rival.id, self._answers(rival), rung)

    def knows_as_much(self, rival: Raced, candidate: StoppedCandidate) -> bool:
        """Whether a rival was asked about all that a candidate was asked about."""
        return not isinstance(rival, StoppedCandidate) or rival.rung >= candidate.rung

    def is_no_better(self, lead: NDArray[np.float64], baseline: Candidate) -> bool:
        """Whether this lead over a rival leaves a candidate no place on the front beside it."""
        return self._race(baseline).is_no_better(lead)

    @staticmethod
    def loses_little(lead: NDArray[np.float64]) -> bool:
        """Whether a candidate with this lead loses no more than one standard error in any objective."""
        errors = lead.std(axis=0, ddof=1) / np.sqrt(len(lead))
        return bool((lead.mean(axis=0) >= -errors).all())

    def _answers(self, candidate: Raced) -> NDArray[np.int64]:
        return self._evaluator.partial_answers(candidate.prompt, "val").array

    def _schedule_of(self, baseline: Candidate) -> Schedule:
        if self._schedule is None:
            on_val = self._evaluator.predictions(baseline.prompt, "val")
            self._schedule = Schedule(on_val.true_classes, on_val.n_rephrasings, self._options.seed)
        return self._schedule

    def _race(self, baseline: Candidate, negligible: float = NEGLIGIBLE) -> Race:
        if negligible not in self._races:
            on_val = self._evaluator.predictions(baseline.prompt, "val")
            margin = self._options.parts.margin
            self._races[negligible] = Race(
                self._schedule_of(baseline),
                on_val.truth,
                on_val.n_classes,
                PairedRule(negligible),
                margin,
                on_val.answers,
            )
        return self._races[negligible]
