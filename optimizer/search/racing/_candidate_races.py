"""Races on val, against the baseline and those that may be on the front; and the candidates that stopped in one."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import InputError
from psopt.evaluation import answer_shares, score
from psopt.models import NOT_ASKED, capabilities_of
from psopt.models.chat import asks_in_chat
from psopt.search._front import EstimatedScores, Tried
from psopt.search.distributed._stored_study import AUDIT, RACED
from psopt.search.racing._race import (
    FEWEST_WORDINGS,
    NEGLIGIBLE,
    Rung,
    Schedule,
    is_audited,
    is_below,
    is_dominated,
    sample_gains,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from optuna.trial import FrozenTrial
    from psopt.evaluation import Evaluator, Predictions, Scores
    from psopt.search._front import Candidate
    from psopt.search_spaces import Edit, Prompt
    from psopt.settings import RaceMode, SearchOptions


_RACED = re.compile(r"(\d+) x (\d+), (.+)")
HELD = "held"
"""Why a candidate waits: no rival is clearly better, and its whole grid is asked for when the search ends, if ever."""


@dataclass(frozen=True, eq=False)
class StoppedCandidate(Tried):
    """A prompt whose grid is partly known: stopped in its race, or held until its whole grid is worth it."""

    val: EstimatedScores  # as reported to the study
    rung: Rung  # the last one that it was asked about
    reason: str  # why it went no further, with the id of its rival; `HELD` if no rival was clearly better

    @property
    def is_held(self) -> bool:
        """Whether it may still be on the front."""
        return self.reason == HELD

    @property
    def raced(self) -> str:
        """How far it got, and why no further, as its trial stores it: ``80 x 2, dominated by ID``."""
        return f"{self.rung}, {self.reason}"

    @classmethod
    def read(cls, trial: FrozenTrial, prompt: Prompt, edits: tuple[Edit, ...], order: str) -> StoppedCandidate:
        raced = _RACED.fullmatch(trial.user_attrs[RACED])
        if raced is None:
            raise ValueError(f"trial {trial.number} raced {trial.user_attrs[RACED]!r}")
        val, rung = EstimatedScores(*trial.values), Rung(int(raced[1]), int(raced[2]))
        audit = trial.user_attrs.get(AUDIT, "")
        return cls(trial.number, prompt, edits, val, rung, raced[3], order=order, audit=audit)


RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True, slots=True)
class RaceCounts:
    """The races of a search, as in run.json."""

    candidates: int  # how many were evaluated, completely or in part; with the original prompt, which never races
    calls: int  # answers on val that candidates were asked for
    saved: int  # answers on val that they were spared
    stopped: int  # candidates that were evaluated in part
    rungs: dict[str, int]  # how many of them stopped at which rung
    audited: int  # candidates that stopped but were asked further, to see whether stopping was right
    wrong: int  # how many of those would be on the front, by all their answers

    @classmethod
    def of(cls, whole: Sequence[Candidate], stopped: Sequence[StoppedCandidate], n_cells: int) -> RaceCounts:
        """Count them; `n_cells` is the size of a whole grid."""
        audits = Counter(candidate.audit for candidate in (*whole, *stopped))
        in_part = sum(candidate.rung.samples * candidate.rung.wordings for candidate in stopped)
        rungs = Counter(candidate.rung for candidate in stopped)
        return cls(
            candidates=len(whole) + len(stopped),
            calls=len(whole) * n_cells + in_part,
            saved=len(stopped) * n_cells - in_part,
            stopped=len(stopped),
            rungs={str(rung): rungs[rung] for rung in sorted(rungs)},
            audited=audits[RIGHT] + audits[WRONG],
            wrong=audits[WRONG],
        )


def racing_line(race: Mapping[str, Any]) -> str:
    """Describe what racing did, from a run's `race`; empty if only the original prompt, which never races, was asked.

    >>> of_six = {"candidates": 6, "calls": 300, "saved": 300, "stopped": 4, "audited": 1, "wrong": 0}
    >>> racing_line(of_six)
    'racing: 4 of 5 candidates stopped, 75 % of their answers saved; of 1 audited stop 0 were wrong'
    """
    if race["candidates"] < 2:
        return ""
    stopped = f"racing: {race['stopped']} of {race['candidates'] - 1} candidates stopped"
    if race["stopped"]:
        n_cells = (race["calls"] + race["saved"]) / race["candidates"]
        stopped += f", {100 * race['saved'] / (race['stopped'] * n_cells):.0f} % of their answers saved"
    if not race["audited"]:
        return stopped
    stops = "stop" if race["audited"] == 1 else "stops"
    were = "was" if race["wrong"] == 1 else "were"
    return f"{stopped}; of {race['audited']} audited {stops} {race['wrong']} {were} wrong"


@dataclass(frozen=True, slots=True)
class RaceResult:
    """How far a candidate got."""

    rung: Rung | None  # the last one that it was asked about; None if it did not race
    # Why it went no further, with the id of the prompt that dominates it; empty if no rival is clearly better
    reason: str = ""
    shortfall: float = 0.0  # how far it is behind that rival in its best objective
    is_audited: bool = False  # whether it was asked further anyway, as a check


@dataclass(frozen=True, eq=False)
class CandidateRaces:
    """Lets the candidates of a search race, one after the other, and compares them on what they were asked about.

    The baseline's whole grid must be known. If no races `are_run`, no candidate stops, and nothing is asked here.
    """

    evaluator: Evaluator
    baseline: Prompt
    options: SearchOptions
    are_run: bool
    _known_gains: dict[tuple[str, Rung], NDArray[np.float64]] = field(default_factory=dict, init=False)

    def run(self, prompt: Prompt, rivals: Iterable[Tried], *, is_shortening: bool) -> RaceResult:
        """Ask about a prompt, as far as it gets against all that may still be on the front.

        A shorter version of the best prompt may lose one standard error, so it stops only if the bounds show that it
        loses in every objective.
        """
        if not self.are_run:
            return RaceResult(None)
        prompts = {rival.prompt.id: rival.prompt for rival in rivals} | {self.baseline.id: self.baseline}
        result = self._raced(prompt, prompts.values(), 0.0 if is_shortening else NEGLIGIBLE)
        if result.rung is None or not result.reason or not is_audited(prompt.id, self.options.seed):
            return result
        schedule = self._schedule
        further = schedule.after(result.rung) if result.rung == schedule.held_at else schedule.held_at
        self._ask(prompt, further)
        return replace(result, rung=further, is_audited=True)

    def _raced(self, prompt: Prompt, rivals: Collection[Prompt], negligible: float) -> RaceResult:
        """Ask about one rung after the other, until a rival is clearly better, or as far as survivors are held."""
        schedule = self._schedule
        for rung in schedule.rungs[: schedule.rungs.index(schedule.held_at) + 1]:
            self._ask(prompt, rung)
            if rung == schedule.whole:  # as with two wordings: nothing is left to save
                break
            cells = schedule.cells(rung)
            for rival in rivals:
                if not self.evaluator.partial_answers(rival, "val").is_answered[cells].all():  # it has not got this far
                    continue
                lead = self._lead(prompt, rival, rung)
                shortfall = -float(lead.mean(axis=0).max())
                if is_dominated(lead, negligible):
                    return RaceResult(rung, f"dominated by {rival.id}", shortfall)
                if rival.id == self.baseline.id and is_below(lead, self.options.parts.margin):
                    return RaceResult(rung, "F1 below the baseline's", shortfall)
        return RaceResult(schedule.held_at)

    def is_whole(self, rung: Rung) -> bool:
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
        self.evaluator.answers(prompt, "val", self._schedule.cells(rung))

    def lead(self, candidate: Tried, rival: Tried) -> NDArray[np.float64]:
        """Return by how much a candidate is ahead of a rival, in F1, -S and C, on each sample both know: (n, 3)."""
        return self._lead(candidate.prompt, rival.prompt, min(self._rung(candidate), self._rung(rival)))

    def _lead(self, prompt: Prompt, rival: Prompt, rung: Rung) -> NDArray[np.float64]:
        return self._gains(prompt, rung) - self._gains(rival, rung)

    def _gains(self, prompt: Prompt, rung: Rung) -> NDArray[np.float64]:
        key = (prompt.id, rung)
        if key not in self._known_gains:  # an answer never changes
            cells = self._schedule.cells(rung)
            answers = np.where(cells, self.evaluator.partial_answers(prompt, "val").array, NOT_ASKED)
            on_rung = replace(self._on_val, array=answers, no_labels=()).of_samples(np.asarray(cells.any(axis=1)))
            self._known_gains[key] = sample_gains(on_rung)
        return self._known_gains[key]

    def estimates(self, prompt: Prompt, rung: Rung) -> EstimatedScores:
        """Estimate a prompt's scores from its answers so far: the baseline's on the whole grid, plus the mean lead.

        The baseline is a control variate: a rung's samples are about as hard for both, so their difficulty cancels in
        the difference. Races use disagreement in place of S; its difference is scaled by the baseline's ratio of S to
        disagreement, since both are concave in the shares of answers and vanish together.
        """
        f1, steadiness, *consistency = self._lead(prompt, self.baseline, rung).mean(axis=0).tolist()
        known = self._scores
        scores = [known.f1 + f1, known.sensitivity - self._per_disagreement * steadiness]
        if known.consistency is not None:
            scores += [known.consistency + consistency[0]]
        return self.marked(EstimatedScores(*np.clip(scores, 0.0, 1.0).tolist()), prompt)

    @cached_property
    def _per_disagreement(self) -> float:
        disagreement = -float(sample_gains(self._on_val)[:, 1].mean())
        if disagreement > 0:
            return self._scores.sensitivity / disagreement
        return 2 * math.log(2) / math.log(self._on_val.n_classes)  # the ratio for two answers, half and half

    def marked(self, scores: EstimatedScores, prompt: Prompt) -> EstimatedScores:
        """Mark in scores whether a prompt's answers so far are nearly always the same, or guesses."""
        shares = answer_shares(self.evaluator.predictions_so_far(prompt, "val"))
        if shares is None:
            return scores
        return scores._replace(is_hollow=shares.is_hollow, is_one_answer=shares.near_constant is not None)

    def knows_as_much(self, rival: Tried, candidate: StoppedCandidate) -> bool:
        """Whether a rival was asked about all that a candidate was asked about."""
        return self._rung(rival) >= candidate.rung

    def _rung(self, candidate: Tried) -> Rung:
        return candidate.rung if isinstance(candidate, StoppedCandidate) else self._schedule.whole

    @property
    def _on_val(self) -> Predictions:
        """What the baseline answered."""
        return self.evaluator.predictions(self.baseline, "val")

    @cached_property
    def _scores(self) -> Scores:
        return score(self._on_val)

    @cached_property
    def _schedule(self) -> Schedule:
        return Schedule(self._on_val.true_classes, self._on_val.n_rephrasings, self.options.seed)


FEWEST_SAMPLES = 20
"""With fewer, bounds from the normal distribution are unreliable; the smallest rung has this many."""


def races(race: RaceMode, evaluator: Evaluator) -> bool:
    """Whether candidates race; InputError if that is requested explicitly, and what is compared does not allow it."""
    if race == "off":
        return False
    obstacle = _obstacle(evaluator)
    if race == "auto":
        if asks_in_chat(evaluator.model) and evaluator.model.engine.batches is not None:
            return False  # each rung would be a batch, which may take a day: one can ask the whole grid instead
        return not capabilities_of(evaluator.model).is_free and not obstacle
    if obstacle:
        raise InputError(f"--race {race} {obstacle}")
    return True


def check_wordings(race: RaceMode, n_wordings: int) -> None:
    """Refuse a race, if it is requested explicitly, under one wording: that does not show how stable a candidate is."""
    if race in {"on", "strict"} and n_wordings < FEWEST_WORDINGS:
        raise InputError(f"--race {race} {_too_few_wordings(n_wordings)}")


def _obstacle(evaluator: Evaluator) -> str:
    """Why what is compared does not allow racing; empty if it does."""
    n_wordings = len(evaluator.rephrasings.on("val")[0])
    n_samples = len(evaluator.samples["val"])
    if evaluator.others:
        return "compares the answers of one model, and here are several: leave it out"
    if n_wordings < FEWEST_WORDINGS:
        return _too_few_wordings(n_wordings)
    if n_samples < FEWEST_SAMPLES:
        return f"needs at least {FEWEST_SAMPLES} samples to compare on, not {n_samples}: leave it out"
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
