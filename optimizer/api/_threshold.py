"""One bound of a check, and what was measured beside it."""

from __future__ import annotations

from dataclasses import dataclass

OPTIONS = ("max_sensitivity", "min_f1", "min_macro_f1", "min_class_f1", "min_consistency", "max_na_rate", "each", "pin")
MEASURES = {
    "max_sensitivity": "sensitivity",
    "min_f1": "f1",
    "min_macro_f1": "macro_f1",
    "min_consistency": "consistency",
    "max_na_rate": "na_rate",
}
MIN_CLASS_F1 = "min_class_f1"
MIN_EACH = "min_each"
PINNED = "pinned"
RESTS_ON_NA = "rests_on_na"
_MOST_NAMED = 10  # samples that a line names; more are not read


@dataclass(frozen=True, slots=True)
class FailingSample:
    """A sample that loses its right answer under too many wordings."""

    id: str
    label: str  # what is right
    right: float  # the share of wordings under which it is answered, in [0, 1]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A bound, and what was measured."""

    # ``max_sensitivity``, ``min_f1``, ``min_macro_f1``, ``min_class_f1`` (one for each class), ``min_consistency``,
    # ``max_na_rate``, ``min_each``, ``pinned``, or ``rests_on_na``: that is missed where S or C are bounded, more
    # answers than `MOST_NA` name no label, and no ``max_na_rate`` says how many may
    option: str
    bound: float
    value: float  # what must keep to the bound: the estimate, or an end of the interval
    note: str = ""  # what is said of ``rests_on_na``
    estimate: float | None = None  # none of ``rests_on_na``, as the other figures
    interval: tuple[float, float] | None = None  # 95 %. Of ``min_each`` it is over samples, under these very wordings.
    # What it was measured on
    n_samples: int | None = None
    n_rephrasings: int | None = None
    # What was measured, where it is not what the option is named for: ``closeness`` of ordered labels
    measure: str = ""
    label: str = ""  # the class of ``min_class_f1``
    each: float | None = None  # of ``min_each``, under which share of the wordings a sample must keep its right answer
    # Of ``min_each`` and ``pinned``, all that don't, the worst first; there may be some where the bound is met
    failing: tuple[FailingSample, ...] = ()

    @property
    def met(self) -> bool:
        """Whether the value keeps to the bound."""
        if self.option == RESTS_ON_NA:
            return self.value <= self.bound
        return self.value <= self.bound if self.option.startswith("max") else self.value >= self.bound

    @property
    def name(self) -> str:
        """What is bounded, in words."""
        if self.option == RESTS_ON_NA:
            return "answers that name no label"
        if self.option == MIN_CLASS_F1:
            return f"f1 of {_printable(self.label)}"
        if self.option == PINNED:
            return "pinned samples right under all wordings"
        if self.option == MIN_EACH:
            return f"samples right under {100 * (self.each or 0):g} % of wordings"
        return self.measure or MEASURES[self.option].replace("_", " ")

    def __str__(self) -> str:
        if self.option == RESTS_ON_NA:
            return f"{'ok' if self.met else 'missed'}: {self.note}"
        sign = ("<=" if self.met else ">") if self.option.startswith("max") else (">=" if self.met else "<")
        line = f"{'ok' if self.met else 'missed'}: {self.name} {self.value:.4f} {sign} {self.bound:g}{self._measured()}"
        return line if self.met or not self.failing else f"{line}: {self._named()}"

    def _measured(self) -> str:
        """What was measured, and on what."""
        if self.interval is None or self.estimate is None:
            return ""
        low, high = self.interval
        of = f" of {self.estimate:.4f}" if self.value != self.estimate else ""
        return f" (95 %{of}: {low:.4f} to {high:.4f}, {self.n_samples} samples x {self.n_rephrasings} wordings)"

    def _named(self) -> str:
        """The samples that fail, the first of them."""
        ids = [_printable(sample.id) for sample in self.failing[:_MOST_NAMED]]
        n_more = len(self.failing) - len(ids)
        return ", ".join(ids) + (f" and {n_more} more" if n_more else "")


def _printable(text: str) -> str:
    """A user's text as part of one line, without what moves a terminal's cursor."""
    return "".join(character if character.isprintable() else " " for character in text)
