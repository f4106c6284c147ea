"""The races of a search's candidates, on val: against the baseline and those that may be on the front."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.evaluation import score, why_worthless
from psopt.models import capabilities_of
from psopt.models.chat import asks_in_chat
from psopt.search.racing._race import NEGLIGIBLE, Race, RaceResult, is_audited
from psopt.search.racing._schedule import FEWEST_WORDINGS, Schedule
from psopt.search.racing._stopped_candidate import StoppedCandidate, estimated_scores

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray
    from psopt.evaluation import Evaluator, Predictions, Scores
    from psopt.search._front import Tried
    from psopt.search.racing._schedule import Rung
    from psopt.search.racing._stopped_candidate import EstimatedScores
    from psopt.search_spaces import Prompt
    from psopt.settings import RaceMode, SearchOptions


class CandidateRaces:
    """Lets the candidates of a search race, one after the other, and compares them on what they were asked about.

    Every decision is made on the answers to a whole rung, so the order in which they come does not matter. The
    baseline's whole grid must be known. If no races `are_run`, no candidate stops, and nothing is asked here.
    """

    def __init__(self, evaluator: Evaluator, baseline: Prompt, options: SearchOptions, *, are_run: bool) -> None:
        self.are_run = are_run
        self._evaluator = evaluator
        self._baseline = baseline
        self._options = options

    def run(self, prompt: Prompt, rivals: Iterable[Tried], *, is_shortening: bool) -> RaceResult:
        """Ask about a prompt, as far as it gets against all that may still be on the front.

        A shorter version of the best prompt may lose one standard error, so it stops only if the bounds show that it
        loses in every objective. One in ten of those that stop is asked further, as a check.
        """
        if not self.are_run:
            return RaceResult(None, None)
        baseline = self._baseline
        answers = {rival.prompt.id: self._answers(rival.prompt) for rival in rivals}
        answers |= {baseline.id: self._answers(baseline)}
        negligible = 0.0 if is_shortening else NEGLIGIBLE
        ask = partial(self._evaluator.answers, prompt, "val")
        result = self._race.run(prompt.id, ask, answers, baseline.id, negligible)
        if result.rung is None or result.stop is None or not is_audited(prompt.id, self._options.seed):
            return result
        schedule = self._schedule
        further = schedule.after(result.rung) if result.rung == schedule.held_at else schedule.held_at
        self._ask(prompt, further)
        return replace(result, rung=further, is_audited=True)

    def is_whole(self, rung: Rung) -> bool:
        """Whether a rung is the whole grid."""
        return rung == self._schedule.whole

    def is_narrow(self, candidate: Tried) -> bool:
        """Whether a candidate was asked about only a part of the samples."""
        return isinstance(candidate, StoppedCandidate) and candidate.rung.samples < self._schedule.n_samples

    def further(self, candidate: StoppedCandidate, *, wholly: bool = False) -> StoppedCandidate:
        """Ask about a held candidate's next rung, or about the rest of its grid."""
        rung = self._schedule.whole if wholly else self._schedule.after(candidate.rung)
        self._ask(candidate.prompt, rung)
        return replace(candidate, rung=rung)

    def _ask(self, prompt: Prompt, rung: Rung) -> None:
        self._evaluator.answers(prompt, "val", self._schedule.cells(rung))

    def lead(self, candidate: Tried, rival: Tried) -> NDArray[np.float64]:
        """Return by how much a candidate is ahead of a rival, in F1, -S and C, on each sample both know: (n, 3)."""
        return self._lead(candidate.prompt, rival.prompt, min(self._rung(candidate), self._rung(rival)))

    def _lead(self, prompt: Prompt, rival: Prompt, rung: Rung) -> NDArray[np.float64]:
        return self._race.lead(prompt.id, self._answers(prompt), rival.id, self._answers(rival), rung)

    def estimates(self, prompt: Prompt, rung: Rung) -> EstimatedScores:
        """Estimate a prompt's scores from its answers so far."""
        lead = self._lead(prompt, self._baseline, rung)
        return self.marked(estimated_scores(lead, self._scores, self._on_val), prompt)

    def marked(self, scores: EstimatedScores, prompt: Prompt) -> EstimatedScores:
        """Mark in scores whether a prompt's answers so far are nearly always the same, or guesses."""
        return scores._replace(is_hollow=bool(why_worthless(self._evaluator.predictions_so_far(prompt, "val"))))

    def knows_as_much(self, rival: Tried, candidate: StoppedCandidate) -> bool:
        """Whether a rival was asked about all that a candidate was asked about."""
        return self._rung(rival) >= candidate.rung

    def _rung(self, candidate: Tried) -> Rung:
        return candidate.rung if isinstance(candidate, StoppedCandidate) else self._schedule.whole

    def _answers(self, prompt: Prompt) -> NDArray[np.int64]:
        return self._evaluator.partial_answers(prompt, "val").array

    @property
    def _on_val(self) -> Predictions:
        """What the baseline answered."""
        return self._evaluator.predictions(self._baseline, "val")

    @cached_property
    def _scores(self) -> Scores:
        return score(self._on_val)

    @cached_property
    def _schedule(self) -> Schedule:
        return Schedule(self._on_val.true_classes, self._on_val.n_rephrasings, self._options.seed)

    @cached_property
    def _race(self) -> Race:
        on_val, margin = self._on_val, self._options.parts.margin
        return Race(self._schedule, on_val.truth, on_val.n_classes, margin, on_val.answers)


# With fewer, bounds from the normal distribution are unreliable; the smallest rung has this many.
_FEWEST_SAMPLES = 20


def races(race: RaceMode, evaluator: Evaluator) -> bool:
    """Return whether candidates race; otherwise every candidate is evaluated completely.

    Raises InputError if racing is requested explicitly, and what is compared does not allow it.
    """
    if race == "off":
        return False
    obstacle = _obstacle(evaluator)
    if race == "auto":
        is_worth_it = not capabilities_of(evaluator.model).is_free and not _asks_in_batches(evaluator)
        return is_worth_it and not obstacle
    if obstacle:
        raise InputError(f"--race {race} {obstacle}")
    return True


def check_wordings(race: RaceMode, n_wordings: int) -> None:
    """Refuse a race under one wording, which does not show how stable a candidate is.

    Raises InputError if racing is requested explicitly.
    """
    if race in {"on", "strict"} and n_wordings < FEWEST_WORDINGS:
        raise InputError(f"--race {race} {_too_few_wordings(n_wordings)}")


def _asks_in_batches(evaluator: Evaluator) -> bool:
    """Whether each rung of a race would be a batch, which may take a day: one batch can ask the whole grid instead."""
    return asks_in_chat(evaluator.model) and evaluator.model.engine.batches is not None


def _obstacle(evaluator: Evaluator) -> str:
    """Why what is compared does not allow racing; empty if it does."""
    n_wordings = len(evaluator.rephrasings.on("val")[0])
    n_samples = len(evaluator.samples["val"])
    if evaluator.others:
        return "compares the answers of one model, and here are several: leave it out"
    if n_wordings < FEWEST_WORDINGS:
        return _too_few_wordings(n_wordings)
    if n_samples < _FEWEST_SAMPLES:
        return f"needs at least {_FEWEST_SAMPLES} samples to compare on, not {n_samples}: leave it out"
    if evaluator.from_probabilities:
        return "compares answers, and --logprobs scores probabilities: leave one of them out"
    can = capabilities_of(evaluator.model)
    if can.is_assessed:
        return "compares answers as they come in, and here something is asked about whole grids of them: leave it out"
    if not can.can_race:
        return "compares labels, and here a metric scores the answers: leave it out"
    return ""


def _too_few_wordings(n_wordings: int) -> str:
    return f"needs at least {FEWEST_WORDINGS} wordings, not {n_wordings}: give --rephrasings 2 or more, or leave it out"
