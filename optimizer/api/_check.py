"""Is a prompt robust enough to ship? Thresholds for continuous integration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.evaluation import MOST_NA, na_note, rests_on_na

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.evaluation import Scores

_BOUNDS = {"max_sensitivity": "sensitivity", "min_f1": "f1", "min_consistency": "consistency", "max_na_rate": "na_rate"}
RESTS_ON_NA = "rests_on_na"
_NEED_ANSWERS = frozenset({"max_sensitivity", "min_consistency"})


@dataclass(frozen=True, slots=True)
class Requirement:
    """One threshold, and what was measured.

    Attributes
    ----------
    option : str
        ``max_sensitivity``, ``min_f1``, ``min_consistency``, ``max_na_rate``, or ``rests_on_na``: that is missed where
        S or C are bounded, more answers than `MOST_NA` name no label, and no ``max_na_rate`` says how many may.
    bound, value : float
    note : str
        What is said of ``rests_on_na``.
    """

    option: str
    bound: float
    value: float
    note: str = ""

    @property
    def met(self) -> bool:
        """Whether the value keeps to the bound."""
        if self.option == RESTS_ON_NA:
            return self.value <= self.bound
        return self.value <= self.bound if self.option.startswith("max") else self.value >= self.bound

    def __str__(self) -> str:
        if self.option == RESTS_ON_NA:
            return f"{'ok' if self.met else 'missed'}: {self.note}"
        sign = ("<=" if self.met else ">") if self.option.startswith("max") else (">=" if self.met else "<")
        name = _BOUNDS[self.option].replace("_", " ")
        return f"{'ok' if self.met else 'missed'}: {name} {self.value:.4f} {sign} {self.bound:g}"


def requirements(scores: Scores, bounds: Mapping[str, float | None], *, sure: bool = False) -> list[Requirement]:
    """Hold scores against bounds.

    Parameters
    ----------
    scores : Scores
        With intervals, if `sure`.
    bounds : dict of option to float or None
    sure : bool
        Ask that the bad end of the 95 % interval keeps to the bound, not just the estimate.

    Raises
    ------
    InputError
        If no bound is given.
    """
    given = {option: bound for option, bound in bounds.items() if bound is not None}
    if not given:
        names = ", ".join("--" + option.replace("_", "-") for option in _BOUNDS)
        raise InputError(f"nothing to check: give at least one of {names}")
    found = [Requirement(option, bound, _value(scores, option, sure=sure)) for option, bound in given.items()]
    if _NEED_ANSWERS & given.keys() and "max_na_rate" not in given and rests_on_na(scores.na_rate):
        found.append(Requirement(RESTS_ON_NA, MOST_NA, scores.na_rate, na_note(scores.na_rate, scores.na_kinds)))
    return found


def _value(scores: Scores, option: str, *, sure: bool) -> float:
    name = _BOUNDS[option]
    if sure and name in scores.ci:
        low, high = scores.ci[name]
        return high if option.startswith("max") else low
    return float(getattr(scores, name))
