"""Verdicts on a grid of free answers, by a model or function: which are the same, and what each is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from psopt.answers import FIRST_CODE, classes_by_pairs, distinct_answers, numbered, text_of
from psopt.errors import InputError, import_own_function
from psopt.tasks import references_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.tasks import Sample

    Pair = tuple[str, str, str]
    """The text of a sample, and two answers to it."""
    Rated = tuple[str, str, str]
    """The text of a sample, its reference, and an answer."""


class _Asked(Protocol):
    def measures(self, cases: Sequence[tuple[str, str, str]], /) -> dict[str, float]:  # noqa: ARG002
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
    matcher: Matcher | None = None  # None where an embedding decides which answers are the same
    rater: Rater | None = None  # None where comparing with the reference is enough

    def assess(self, array: NDArray[np.int64], samples: Sequence[Sample]) -> Assessment:
        """Return the verdicts on (N, Q) answers to N samples; raises PsoptError if the matcher or rater fails."""
        worths = same = None
        measures: dict[str, float] = {}
        if self.rater and all(sample.label is not None for sample in samples):
            is_read = array >= FIRST_CODE
            answered = [samples[row] for row in np.nonzero(is_read)[0].tolist()]
            texts = map(text_of, array[is_read].tolist())
            answers = [(sample.text, str(sample.label), text) for sample, text in zip(answered, texts, strict=True)]
            worths = np.zeros(array.shape)
            worths[is_read] = self.rater.rate(answers)
            measures |= self.rater.measures(answers)
        if matcher := self.matcher:
            compared: list[Pair] = []

            def are_same(pairs: list[tuple[int, str, str]]) -> list[bool]:
                comparisons = [(samples[row].text, first, second) for row, first, second in pairs]
                compared.extend(comparisons)
                return matcher.same(comparisons)

            same = numbered(array, classes_by_pairs(distinct_answers(array), are_same))
            measures |= matcher.measures(compared)
        return Assessment(worths, same, measures)


class OwnFunction(Matcher, Rater):
    """The user's own function of two texts, ``MODULE:NAME``; the module may be in the working directory.

    ``NAME(answer, other)`` says whether two answers are the same, True or False. ``NAME(answer, reference)`` says what
    an answer is worth, a number from 0 to 1; of several references the best one counts.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._function = import_own_function(name, "--answers", "two texts")

    def same(self, pairs: Sequence[Pair]) -> list[bool]:
        wanted = "two answers: True or False is wanted"
        return [bool(self._said(first, second, (bool, np.bool_), wanted)) for _, first, second in pairs]

    def rate(self, answers: Sequence[Rated]) -> list[float]:
        kinds = (bool, np.bool_, int, float, np.integer, np.floating)
        wanted = "an answer: a number from 0 to 1 is wanted"
        return [
            max(float(self._said(answer, right, kinds, wanted)) for right in references_of(reference))
            for _, reference, answer in answers
        ]

    def _said(self, first: str, second: str, kinds: Any, wanted: str) -> Any:
        try:
            verdict = self._function(first, second)
        except Exception as error:  # the user's function may raise anything
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"--answers: {self._name} failed on an answer: {reason}") from error
        if not (isinstance(verdict, kinds) and 0 <= verdict <= 1):
            raise InputError(f"--answers: {self._name} returned {verdict!r} of {wanted}")
        return verdict
