"""What is said of a grid of free answers by something that must be asked: which are the same, what each is worth."""

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
    """The text of a sample, what is right, and an answer."""


class _Asked(Protocol):
    """Somebody who is asked about answers."""

    def measures(self, asked: Sequence[tuple[str, str, str]], /) -> dict[str, float]:  # noqa: ARG002
        """Return how far what is said of these can be relied on; nothing where that is not known."""
        return {}


class Matcher(_Asked, Protocol):
    """Says whether two answers are the same."""

    def same(self, pairs: Sequence[Pair]) -> list[bool]: ...


class Rater(_Asked, Protocol):
    """Says what an answer is worth beside what is right."""

    def rate(self, answers: Sequence[Rated], /) -> list[float]:
        """Return what each answer is worth, in [0, 1]."""
        ...


@dataclass(frozen=True, eq=False)
class Assessment:
    """What is said of a grid of answers, (N, Q)."""

    # What each answer is worth, in [0, 1], N/A nothing; None where it is not asked for, or samples have no label
    worths: NDArray[np.float64] | None = None
    # Which answers to each sample are the same, numbered as `psopt.answers.places_of` does; None where not asked for
    same: NDArray[np.int64] | None = None
    measures: dict[str, float] = field(default_factory=dict)  # how far that can be relied on, by name


@dataclass(frozen=True)
class Assessor:
    """Asks about whole grids of answers."""

    matcher: Matcher | None = None  # none where an embedding says which answers are the same
    rater: Rater | None = None  # none where the reference says what they are worth

    def assess(self, array: NDArray[np.int64], samples: Sequence[Sample]) -> Assessment:
        """Return what is said of answers, (N, Q) as `Predictions.array` has them, to N samples.

        Raises PsoptError if what is asked fails, or can't be understood.
        """
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
