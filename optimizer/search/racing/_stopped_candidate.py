"""A candidate that stopped or is held in its race, its estimated scores, and what races have saved."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from psopt.evaluation import objective_gains
from psopt.search._front import Tried
from psopt.search.distributed import AUDIT, RACED
from psopt.search.racing._race import sample_gains
from psopt.search.racing._schedule import Rung

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from optuna.trial import FrozenTrial
    from psopt.evaluation import Predictions, Scores
    from psopt.search._front import Candidate
    from psopt.search_spaces import Edit, Prompt


_RACED = re.compile(r"(\d+) x (\d+), (.+)")
HELD = "held"
"""Why a candidate waits: no rival is clearly better, and its whole grid is asked for when the search ends, if ever."""


class EstimatedScores(NamedTuple):
    """F1, S and, where it is defined, C of a candidate whose grid is partly known.

    `is_hollow` says whether the known answers are nearly always the same, or guesses (`Scores.is_hollow`).
    """

    f1: float
    sensitivity: float
    consistency: float | None = None
    is_hollow: bool = False

    @property
    def gains(self) -> NDArray[np.float64]:
        """The objectives, all to be maximised."""
        return objective_gains(self)


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
        """Read it back from its trial."""
        raced = _RACED.fullmatch(trial.user_attrs[RACED])
        if raced is None:
            raise ValueError(f"trial {trial.number} raced {trial.user_attrs[RACED]!r}")
        rung = Rung(int(raced[1]), int(raced[2]))
        val = EstimatedScores(*trial.values)
        audit = trial.user_attrs.get(AUDIT, "")
        return cls(trial.number, prompt, edits, val, rung, raced[3], order=order, audit=audit)


def estimated_scores(lead: NDArray[np.float64], baseline: Scores, on_val: Predictions) -> EstimatedScores:
    """Estimate F1, S and C of a candidate: the baseline's on the whole grid, plus the mean difference.

    The baseline, with these answers `on_val`, is a control variate: a rung's samples are about as hard for both, so
    their difficulty cancels in the difference. `lead` (n, k) is by how much the candidate is ahead in F1, -S (as
    disagreement) and C on each sample of a rung. Races use disagreement in place of S; its difference is scaled by the
    baseline's ratio of S to disagreement, since both are concave in the shares of answers and vanish together.
    """
    f1, steadiness, *consistency = lead.mean(axis=0).tolist()
    sensitivity = baseline.sensitivity - _per_disagreement(baseline.sensitivity, on_val) * steadiness
    of_consistency = [] if baseline.consistency is None else [baseline.consistency + consistency[0]]
    scores = np.clip([baseline.f1 + f1, sensitivity, *of_consistency], 0.0, 1.0)
    return EstimatedScores(*scores.tolist())


def _per_disagreement(sensitivity: float, on_val: Predictions) -> float:
    whole = np.ones(on_val.array.shape, dtype=np.bool_)
    disagreement = -float(
        sample_gains(on_val.array, whole, on_val.truth, on_val.n_classes, on_val.answers)[:, 1].mean()
    )
    if disagreement > 0:
        return sensitivity / disagreement
    return 2 * math.log(2) / math.log(on_val.n_classes)  # the ratio for a sample with two answers, half and half


RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True, slots=True)
class RaceCounts:
    """The races of a search, as in run.json."""

    candidates: int  # how many were evaluated, completely or in part
    # Answers on val that candidates were asked for, and those that they were spared
    calls: int
    saved: int
    stopped: int  # candidates that were evaluated in part
    rungs: dict[str, int]  # how many of them stopped at which rung
    audited: int  # candidates that stopped but were asked further, to see whether stopping was right
    wrong: int  # how many of those would be on the front, by all their answers

    @classmethod
    def of(cls, whole: Sequence[Candidate], stopped: Sequence[StoppedCandidate], n_cells: int) -> RaceCounts:
        """Count them; `n_cells` is the size of a whole grid."""
        audits = Counter(candidate.audit for candidate in whole) + Counter(candidate.audit for candidate in stopped)
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

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return asdict(self)


def racing_line(race: Mapping[str, Any]) -> str:
    """Describe what racing did, from a run's `race`.

    >>> of_six = {"candidates": 6, "calls": 300, "saved": 300, "stopped": 4, "audited": 1, "wrong": 0}
    >>> racing_line(of_six)
    'racing: 4 of 6 candidates stopped, 75 % of their answers saved; of 1 audited stop 0 were wrong'
    """
    stopped = f"racing: {race['stopped']} of {race['candidates']} candidates stopped"
    if race["stopped"]:
        n_cells = (race["calls"] + race["saved"]) / race["candidates"]
        stopped += f", {100 * race['saved'] / (race['stopped'] * n_cells):.0f} % of their answers saved"
    stops = "stop" if race["audited"] == 1 else "stops"
    were = "was" if race["wrong"] == 1 else "were"
    audits = f"of {race['audited']} audited {stops} {race['wrong']} {were} wrong" if race["audited"] else ""
    return "; ".join(part for part in (stopped, audits) if part)
