"""What a user may set about a search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from psopt.errors import InputError, UnknownNameError
from psopt.search_spaces import SearchRestriction

_LEAST_TO_SHORTEN = 10

SamplerName = Literal["tpe", "nsga2", "gp", "random"]
RaceMode = Literal["auto", "on", "strict", "off"]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search.

    Attributes
    ----------
    trials : int
        Evaluated candidates in total, the seed prompt among them; resuming runs what is left of them.
    rounds : int
        How many times to diagnose the best candidate so far and propose new edits.
    sampler : str
        ``tpe``, ``nsga2``, ``gp`` or ``random``.
    seed : int
    parts : SearchRestriction
        Views, kinds of edits, and the margin of the constraint on F1.
    most_edits : int
        How many edits a round may add to the pool; those with most to gain are kept.
    race : str
        Whether candidates stop where others are clearly better: ``on`` (``strict`` is another word for it), ``off``;
        ``auto`` is on where answers cost something and come call by call. Where it is on, diagnoses grow too, and ask
        about a part of train.
    most_diagnosis_calls : int or None
        How many answers a diagnosis that grows may take; two samples of each class are always asked about.
    most_trials : int or None
        Up to how many trials a race goes on while its limits pay for more than `trials`; None ends it with those.
    """

    trials: int = 40
    rounds: int = 3
    sampler: SamplerName = "tpe"
    seed: int = 42
    parts: SearchRestriction = field(default_factory=SearchRestriction)
    most_edits: int = 40
    race: RaceMode = "auto"
    most_diagnosis_calls: int | None = None
    most_trials: int | None = None

    @property
    def shortening(self) -> int:
        """How many of the trials, the last ones, try shorter versions of the best prompt."""
        return n_shortening(self.trials)

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.trials < 1:
            raise InputError(f"trials must be at least 1, not {self.trials}")
        if self.rounds < 1:
            raise InputError(f"rounds must be at least 1, not {self.rounds}")
        if self.seed < 0:
            raise InputError(f"seed must be 0 or more, not {self.seed}")
        if self.sampler not in get_args(SamplerName):
            raise UnknownNameError("sampler", self.sampler, get_args(SamplerName))
        if self.race not in get_args(RaceMode):
            raise UnknownNameError("race", self.race, get_args(RaceMode))


def n_shortening(trials: int) -> int:
    """How many of so many trials try shorter versions of the best prompt."""
    return trials // 5 if trials >= _LEAST_TO_SHORTEN else 0
