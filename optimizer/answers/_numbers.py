"""Answers that are numbers: the same, and right, within a tolerance."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.answers._no_label import NO_NUMBER, SEVERAL_NUMBERS
from psopt.answers._open_answers import OpenAnswers
from psopt.answers._reading import declared_part, json_part
from psopt.tasks import written_number
from psopt.text import numbers_in, whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUNDING = 1e-9  # relative to the larger number: binary rounding must not make two numbers differ
_EMPHASISED = re.compile(r"(?<=[\w:=,] )\*\*([^*\n]+)\*\*")
_LONGEST = 100_000  # characters that are read; the rest of an answer is ignored


@dataclass(frozen=True, slots=True)
class Numbers(OpenAnswers):
    """Numbers that are the same within a tolerance."""

    tolerance: float = 0.0  # by how much two may differ: absolutely, or as a share of the larger (``is_share``)
    is_share: bool = False

    quality_name = "accuracy"

    @property
    def note(self) -> str:
        """What is measured differently than for labels."""
        within = f"within {self.tolerance:g} of each other"
        if self.is_share:
            within = f"within {100 * self.tolerance:g}% of each other"
        if not self.tolerance:
            within = "equal"
        return f"Answers are numbers: the same if {within}; accuracy stands where F1 stands else, and C is not defined"

    def classes(self, answers: Sequence[str]) -> list[int]:
        """Return which numbers are the same: in rising order, each class at most as wide as the tolerance.

        >>> Numbers(0.5).classes(["1", "10", "1.4", "1.8"])
        [0, 2, 0, 1]
        """
        values = [float(answer) for answer in answers]
        classes = [0] * len(values)
        start, current = None, -1
        for place in sorted(range(len(values)), key=lambda place: values[place]):
            if start is None or not self._is_same(start, values[place]):
                start, current = values[place], current + 1
            classes[place] = current
        return classes

    def similarity(self, first: str, second: str) -> float:
        """Return 1 if two numbers are within tolerance, else 0."""
        return float(self._is_same(float(first), float(second)))

    def _is_same(self, first: float, second: float) -> bool:
        if self.is_share:
            return math.isclose(first, second, rel_tol=self.tolerance + _ROUNDING)
        return abs(first - second) <= self.tolerance + _ROUNDING * max(abs(first), abs(second))


def read_number(answer: str) -> tuple[str | None, str]:
    r"""Return the number that an answer gives, and no kind; or None, and why.

    In this order: the whole answer, if it is a number, perhaps with a unit; JSON, or a field of it; what follows
    "Answer:" on the last line; the only number in the answer or, failing that, in its last line, unless the answer
    emphasises another one. Of JSON, only the members that may be the answer are read.

    >>> read_number("12.50 EUR"), read_number("From 3 and 4 it follows:\nAnswer: 12"), read_number("3 or 4")[0]
    (('12.5', ''), ('12', ''), None)
    """
    text = answer[:_LONGEST]
    if (value := whole_number(text)) is not None:
        return written_number(value), ""
    if (in_json := json_part(text)) is not None:
        text = " ".join(in_json.split())  # its members are no lines of an answer
    declared = declared_part(text) or ""
    for part in (text, declared):
        if (value := whole_number(part)) is not None:
            return written_number(value), ""
    values = set(numbers_in(declared))
    if not _is_one(values):
        in_text = set(numbers_in(text))
        values = in_text if _is_one(in_text) else _in_last_line(text)
        if not _is_one(values):
            return None, SEVERAL_NUMBERS if in_text else NO_NUMBER
    return written_number(values.pop()), ""


def _in_last_line(text: str) -> set[float]:
    """The numbers in the last line and, if they have no emphasis, the only number elsewhere that has."""
    line = text.strip().rpartition("\n")[2]
    values = set(numbers_in(line))
    if not values or _EMPHASISED.search(line):
        return values
    emphasised = {value for span in _EMPHASISED.findall(text) if (value := whole_number(span)) is not None}
    return values | emphasised if len(emphasised) == 1 else values


def _is_one(values: set[float]) -> bool:
    return len(values) == 1 and not any(map(math.isnan, values))
