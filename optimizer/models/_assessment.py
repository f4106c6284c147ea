"""Verdicts on a grid of free answers, by a model or function: which are the same, and what each is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from psopt.answers import FIRST_CODE, classes_by_pairs, distinct_answers, numbered, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.tasks import Sample

    Pair = tuple[str, str, str]
    """The text of a sample, and two answers to it."""
    Rated = tuple[str, str, str]
    """The text of a sample, its reference, and an answer."""


class _Asked(Protocol):
    """A model or function that is asked about answers."""

    def measures(self, asked: Sequence[tuple[str, str, str]], /) -> dict[str, float]:  # noqa: ARG002
        """Return how reliable the verdicts on these are, by name; empty where that is not known."""
        return {}


class Matcher(_Asked, Protocol):
    """Says whether two answers are the same."""

    def same(self, pairs: Sequence[Pair]) -> list[bool]: ...


class Rater(_Asked, Protocol):
    """Says what an answer is worth, compared with the reference."""

    def rate(self, answers: Sequence[Rated], /) -> list[float]:
        """Return what each answer is worth, in [0, 1]."""


@dataclass(frozen=True, eq=False)
class Assessment:
    """The verdicts on a grid of answers, (N, Q)."""

    # What each answer is worth, in [0, 1], 0 for N/A; None where nobody asked for it, or samples have no label
    worths: NDArray[np.float64] | None = None
    # Which answers to each sample are the same, numbered as in `psopt.answers.places_of`; None where not asked for
    same: NDArray[np.int64] | None = None
    measures: dict[str, float] = field(default_factory=dict)  # how reliable the verdicts are, by name


@dataclass(frozen=True)
class Assessor:
    """Asks about whole grids of answers."""

    matcher: Matcher | None = None  # None where an embedding decides which answers are the same
    rater: Rater | None = None  # None where comparing with the reference is enough

    def assess(self, array: NDArray[np.int64], samples: Sequence[Sample]) -> Assessment:
        """Return the verdicts on (N, Q) answers to N samples; raises PsoptError if the matcher or rater fails."""
        worths, of_rater = self._worths(array, samples)
        same, of_matcher = self._same(array, samples)
        return Assessment(worths, same, {**of_rater, **of_matcher})

    def _worths(self, array: NDArray[np.int64], samples: Sequence[Sample]) -> tuple[Any, dict[str, float]]:
        if self.rater is None or any(sample.label is None for sample in samples):
            return None, {}
        cells = [(int(row), int(column)) for row, column in np.argwhere(array >= FIRST_CODE)]
        answers = [
            (samples[row].text, str(samples[row].label), text_of(int(array[row, column]))) for row, column in cells
        ]
        worths = np.zeros(array.shape)
        for cell, worth in zip(cells, self.rater.rate(answers), strict=True):
            worths[cell] = worth
        return worths, self.rater.measures(answers)

    def _same(self, array: NDArray[np.int64], samples: Sequence[Sample]) -> tuple[Any, dict[str, float]]:
        if self.matcher is None:
            return None, {}
        matcher = self.matcher
        compared: list[Pair] = []

        def are_same(pairs: list[tuple[int, str, str]]) -> list[bool]:
            comparisons = [(samples[row].text, first, second) for row, first, second in pairs]
            compared.extend(comparisons)
            return matcher.same(comparisons)

        classes = classes_by_pairs(distinct_answers(array), are_same)
        return numbered(array, classes), matcher.measures(compared)
