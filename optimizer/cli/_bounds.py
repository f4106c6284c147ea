"""The bounds of `psopt check`, as options and as `psopt.check` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer
from psopt.cli._options import option, positive
from psopt.cli._typer import UsageError


def class_bounds(values: list[str] | None) -> list[str] | None:
    """Refuse a --min-class-f1 that is no number in [0, 1], alone or behind LABEL=."""
    for value in values or []:
        label, sign, number = value.rpartition("=")
        try:
            is_share = 0 <= float(number) <= 1
        except ValueError:
            is_share = False
        if not is_share or (sign and not label):
            raise typer.BadParameter(f"{value!r}: a number from 0 to 1 is expected, or LABEL=NUMBER")
    if sum("=" not in value for value in values or []) and len(values or []) > 1:
        raise typer.BadParameter("one number is for every class: give it alone, or LABEL=NUMBER for each class")
    return values


MaxSensitivity = Annotated[
    float | None, option("Bounds", "--max-sensitivity", "S must not be above this.", "X", min=0, max=1)
]
MinF1 = Annotated[float | None, option("Bounds", "--min-f1", "F1 must not be below this.", "X", min=0, max=1)]
MinMacroF1 = Annotated[
    float | None, option("Bounds", "--min-macro-f1", "Macro-F1 must not be below this.", "X", min=0, max=1)
]
MinClassF1 = Annotated[
    list[str] | None,
    option(
        "Bounds",
        "--min-class-f1",
        "The F1 of no class must be below this; LABEL=X is for one class, and may be repeated.",
        "X",
        callback=class_bounds,
    ),
]
MinConsistency = Annotated[
    float | None, option("Bounds", "--min-consistency", "C must not be below this.", "X", min=0, max=1)
]
MaxNaRate = Annotated[
    float | None,
    option(
        "Bounds",
        "--max-na-rate",
        "The share of answers that name no label must not be above this.",
        "X",
        min=0,
        max=1,
    ),
]
Each = Annotated[
    float | None,
    option(
        "Bounds",
        "--each",
        "Each sample must keep its right answer under at least this share of the wordings.",
        "X",
        min=0,
        max=1,
        callback=positive,
    ),
]
MinEach = Annotated[
    float | None,
    option(
        "Bounds",
        "--min-each",
        "The share of samples that must do so, with --each",
        "X",
        min=0,
        max=1,
        show_default="all, 1",
    ),
]
Pin = Annotated[
    list[str] | None,
    option(
        "Bounds",
        "--pin",
        "Id of a sample that must be right under every wording, beside those that the data pin; may be repeated.",
        "ID",
    ),
]
Sure = Annotated[bool, option("Bounds", "--sure", "Ask it of the bad end of the 95 % interval, not of the estimate.")]
Alarm = Annotated[bool, option("Bounds", "--alarm", "Ask it of the good end: fail only where a bound is surely missed")]


@dataclass(frozen=True, slots=True)
class BoundFlags:
    """What a prompt must keep to, and which figure of it."""

    max_sensitivity: MaxSensitivity = None
    min_f1: MinF1 = None
    min_macro_f1: MinMacroF1 = None
    min_class_f1: MinClassF1 = None
    min_consistency: MinConsistency = None
    max_na_rate: MaxNaRate = None
    each: Each = None
    min_each: MinEach = None
    pin: Pin = None
    sure: Sure = False
    alarm: Alarm = False

    def keywords(self) -> dict[str, Any]:
        """The same as keywords of `psopt.check`.

        Raises
        ------
        UsageError
            If two options contradict each other.
        """
        if self.min_each is not None and self.each is None:
            raise UsageError("--min-each says how many samples must keep their right answer: give --each too")
        if self.sure and self.alarm:
            raise UsageError(
                "--sure asks for the bad end of the interval, and --alarm for the good one: give one of them"
            )
        return {
            **self._bounds(),
            "min_each": self.min_each,
            "pinned": tuple(self.pin or ()),
            "use_ci_bound": self.sure,
            "alarm": self.alarm,
        }

    def refuse_nothing(self, *, has_pinned: bool) -> None:
        """Refuse a check without a bound, unless the data pin samples.

        Raises
        ------
        UsageError
        """
        bounds = {**self._bounds(), "pin": self.pin}
        if not has_pinned and all(not bound and bound != 0 for bound in bounds.values()):
            *names, last = ("--" + name.replace("_", "-") for name in bounds)
            raise UsageError(f"nothing to check: give {', '.join(names)} or {last}")

    def _bounds(self) -> dict[str, Any]:
        return {
            "max_sensitivity": self.max_sensitivity,
            "min_f1": self.min_f1,
            "min_macro_f1": self.min_macro_f1,
            "min_class_f1": _of_classes(self.min_class_f1 or []),
            "min_consistency": self.min_consistency,
            "max_na_rate": self.max_na_rate,
            "each": self.each,
        }


def _of_classes(values: list[str]) -> float | dict[str, float] | None:
    """What --min-class-f1 says, of every class or of some."""
    if not values:
        return None
    if "=" not in values[0]:
        return float(values[0])
    return {label: float(number) for label, _, number in (value.rpartition("=") for value in values)}
