"""The bounds that a prompt must keep in `psopt check`."""

from collections.abc import Mapping
from dataclasses import dataclass

from psopt.errors import InputError
from psopt.settings._option import Panel, check, told

_BOUNDS = Panel("Bounds")


def _of_classes(texts: list[str]) -> float | dict[str, float]:
    """Read --min-class-f1: for every class, or for some by LABEL=."""
    bounds: dict[str, float] = {}
    for text in texts:
        label, sign, number = text.rpartition("=")
        try:
            is_share = 0 <= float(number) <= 1
        except ValueError:
            is_share = False
        if not is_share or (sign and not label):
            raise ValueError(f"{text!r}: a number from 0 to 1 is expected, or LABEL=NUMBER")
        if label and label in bounds:
            raise ValueError(f"{label!r} has two bounds, {bounds[label]:g} and {number}: give one")
        bounds[label] = float(number)
    if "" in bounds and len(texts) > 1:
        raise ValueError("one number is for every class: give it alone, or LABEL=NUMBER for each class")
    return bounds.get("", bounds)


@told
@dataclass(frozen=True, slots=True)
class BoundOptions:
    """The bounds that a prompt must keep, and for which figure: at least one, unless the data pin samples.

    A prompt exactly at a bound passes at the worse end of the interval in 2 % of the cases, at most in 4 % for F1 and
    C, and 6 % for S; at the better end it fails in 2 %, and one exactly at three bounds in 4 % (5 and 7 % at most;
    benchmarks/coverage.md).
    """

    max_sensitivity: float | None = _BOUNDS.first("S must not be above this.", "X", least=0, most=1)
    min_f1: float | None = _BOUNDS.first("F1 must not be below this.", "X", least=0, most=1)
    min_macro_f1: float | None = _BOUNDS.first("Macro-F1 must not be below this.", "X", least=0, most=1)
    min_class_f1: float | Mapping[str, float] | None = _BOUNDS.first(
        "The F1 of no class must be below this; LABEL=X is for one class, and may be repeated.",
        "X",
        read=_of_classes,
        repeats=True,
    )
    min_consistency: float | None = _BOUNDS.first("C must not be below this.", "X", least=0, most=1)
    max_na_rate: float | None = _BOUNDS.first(
        "The share of answers that name no label must not be above this.", "X", least=0, most=1
    )
    each: float | None = _BOUNDS.first(
        "Each sample must keep its right answer under at least this share of the wordings.", "X", above=0, most=1
    )
    min_each: float | None = _BOUNDS.rare(
        "The share of samples that must do so, with --each", "X", least=0, most=1, shown_default="all, 1"
    )
    pinned: tuple[str, ...] = _BOUNDS.rare(
        "Id of a sample that must be right under every wording, beside those that the data pin; may be repeated.",
        "ID",
        default=(),
        flags="--pin",
        repeats=True,
    )
    use_ci_bound: bool = _BOUNDS.first(
        "Require the bound at the worse end of the 95 % interval, not of the estimate.", default=False, flags="--sure"
    )
    beyond_reruns: bool = _BOUNDS.rare(
        "Hold --max-sensitivity against S less the S of asking again; with --vary repeat.", default=False
    )
    alarm: bool = _BOUNDS.first(
        "Require the bound at the better end: fail only where it is clearly missed", default=False
    )

    def __post_init__(self) -> None:
        check(self)
        if (given := self.min_class_f1) is not None:
            each = [f"{label}={bound}" for label, bound in given.items()] if isinstance(given, Mapping) else given
            try:
                bounds = _of_classes(list(map(str, each if isinstance(each, (list, tuple)) else [each])))
            except ValueError as error:
                raise InputError(f"min_class_f1: {error}") from error
            object.__setattr__(self, "min_class_f1", bounds)
        if self.use_ci_bound and self.alarm:
            raise InputError("--sure asks for the worse end of the interval, and --alarm for the better one: give one")
        if self.beyond_reruns and self.max_sensitivity is None:
            raise InputError("--beyond-reruns says which S --max-sensitivity bounds: give --max-sensitivity too")
        if self.min_each is not None and self.each is None:
            raise InputError("--min-each says how many samples must keep their right answer: give --each too")
