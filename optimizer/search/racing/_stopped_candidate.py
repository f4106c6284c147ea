"""A candidate that stopped or is held in its race, what is estimated of it, and what races have saved."""

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
"""Why a candidate waits: nobody is clearly better, and its whole grid is asked for when the search ends, if ever."""


class EstimatedScores(NamedTuple):
    """F1, S and, where it is defined, C of a candidate of which a part of the grid is known.

    `is_hollow` says whether what is known is nearly always the same answer (`Scores.is_hollow`).
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
    """A prompt of which a part of the grid is known: stopped in its race, or held until its whole grid is worth it."""

    val: EstimatedScores  # as the study was told
    rung: Rung  # the last one that it was asked about
    reason: str  # why it went no further, with the id of its rival; `HELD` where nobody was clearly better

    @property
    def is_held(self) -> bool:
        """Whether it may still come to stand on the front."""
        return self.reason == HELD

    @property
    def raced(self) -> str:
        """How far it came and why, as its trial keeps it: ``80 x 2, dominated by ID``."""
        return f"{self.rung}, {self.reason}"

    @classmethod
    def read(cls, trial: FrozenTrial, prompt: Prompt, edits: tuple[Edit, ...], order: str) -> StoppedCandidate:
        """Read back what a trial says of it."""
        raced = _RACED.fullmatch(trial.user_attrs[RACED])
        if raced is None:
            raise ValueError(f"trial {trial.number} raced {trial.user_attrs[RACED]!r}")
        rung = Rung(int(raced[1]), int(raced[2]))
        val = EstimatedScores(*trial.values)
        audit = trial.user_attrs.get(AUDIT, "")
        return cls(trial.number, prompt, edits, val, rung, raced[3], order=order, audit=audit)


def estimated_scores(lead: NDArray[np.float64], baseline: Scores, on_val: Predictions) -> EstimatedScores:
    """Estimate F1, S and C of a candidate: the baseline's of the whole grid, plus the mean difference.

    The baseline, with these answers `on_val`, is a control variate: what is hard about a rung's samples is hard for
    both, and leaves with the difference. `lead` (n, k) is by how much the candidate is ahead in F1, -S (as
    disagreement) and C on each sample of a rung. S is raced on as disagreement; its difference is stretched by what S
    is to disagreement for the baseline, since both are concave in the shares of answers and vanish together.
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
    return 2 * math.log(2) / math.log(on_val.n_classes)  # of a sample with two answers, half and half


RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True, slots=True)
class RaceCounts:
    """The races of a search, as run.json says it."""

    candidates: int  # how many were evaluated, in whole or in part
    # Answers on val that candidates were put to, and those that they were spared
    calls: int
    saved: int
    stopped: int  # candidates that were evaluated in part
    rungs: dict[str, int]  # how many of them stopped where
    audited: int  # candidates that stopped and were asked about more, to see whether that was right
    wrong: int  # how many of those would stand on the front by all that was asked of them

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
    """Say what racing did, of a run's `race`.

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
