"""A candidate that stopped, and what is estimated of it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.search.distributed._study_keys import RACED
from psopt.search.racing._sample_gains import sample_gains
from psopt.search.racing._schedule import Rung
from psopt.search_spaces import ORDERS

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial
    from psopt.evaluation import Predictions, Scores
    from psopt.search.racing._rules import Stop
    from psopt.search_spaces import Edit, Prompt

_RACED = re.compile(r"(\d+) x (\d+), (.+)")


@dataclass(frozen=True, eq=False)
class StoppedCandidate:
    """A prompt of which a part of the grid is known, and that is no candidate for the front.

    Attributes
    ----------
    trial : int
    prompt : Prompt
    edits : tuple of Edit
    rung : Rung
        The last one that it was asked about.
    reason : str
        Why it went no further, with the id of its rival.
    estimates : (float, float, float)
        F1, S and C, as the study was told.
    order : str
        Of its examples.
    """

    trial: int
    prompt: Prompt
    edits: tuple[Edit, ...]
    rung: Rung
    reason: str
    estimates: tuple[float, float, float]
    order: str = ORDERS[0]

    @property
    def id(self) -> str:
        """The prompt's id."""
        return self.prompt.id

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
        f1, sensitivity, consistency = trial.values
        rung = Rung(int(raced[1]), int(raced[2]))
        return cls(trial.number, prompt, edits, rung, raced[3], (f1, sensitivity, consistency), order)


def estimated_scores(stop: Stop, rival: Scores, on_val: Predictions) -> tuple[float, float, float]:
    """Estimate F1, S and C of a candidate that stopped: the rival's of the whole grid, plus the mean difference.

    The rival is a control variate: what is hard about a rung's samples is hard for both, and leaves with the
    difference. S is raced on as disagreement; its difference is stretched by what S is to disagreement for the rival,
    since both are concave in the shares of answers and vanish together.

    Parameters
    ----------
    stop : Stop
    rival : Scores
        Of its whole grid.
    on_val : Predictions
        The rival's.
    """
    f1, steadiness, consistency = stop.lead
    sensitivity = rival.sensitivity - _per_disagreement(rival.sensitivity, on_val) * steadiness
    estimates = np.clip([rival.f1 + f1, sensitivity, rival.consistency + consistency], 0.0, 1.0).tolist()
    return (estimates[0], estimates[1], estimates[2])


def _per_disagreement(sensitivity: float, on_val: Predictions) -> float:
    whole = np.ones(on_val.array.shape, dtype=np.bool_)
    disagreement = -float(sample_gains(on_val.array, whole, on_val.truth, on_val.n_classes)[:, 1].mean())
    if disagreement > 0:
        return sensitivity / disagreement
    return 2 * math.log(2) / math.log(on_val.n_classes)  # of a sample with two answers, half and half
