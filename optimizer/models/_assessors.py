"""Who compares and rates free answers, and what is said of a grid of them: which are the same, what each is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from psopt.answers import FIRST_CODE, classes_by_pairs, distinct_answers, numbered, text_of
from psopt.errors import InputError, import_own_function
from psopt.models._answer_cache import AnswerCache
from psopt.models.chat import RatingJudge, SamenessJudge, load_writer
from psopt.tasks import FUNCTION, JUDGE, NLI, references_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.models.chat import Budget, LMConfig, Writer
    from psopt.tasks import AnswerSpec, Sample

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
            asked = [(samples[row].text, first, second) for row, first, second in pairs]
            compared.extend(asked)
            return matcher.same(asked)

        classes = classes_by_pairs(distinct_answers(array), are_same)
        return numbered(array, classes), matcher.measures(compared)


def assessor_for(
    spec: AnswerSpec, cache_dir: Path | None, options: LMConfig | None, budget: Budget | None
) -> Assessor | None:
    """Return who compares or rates a task's answers; None where the answers themselves tell.

    Raises InputError if there is no such model or function, or a judge is to be asked by batches.
    """
    if not spec.is_assessed:
        return None

    def judge(model: str) -> Writer:
        if options and options.batch:
            raise InputError("--batch is for answers without a judge, who is asked call by call: leave it out")
        return load_writer(model, cache_dir=cache_dir, options=options, budget=budget)

    matcher: Matcher | None = None
    by = spec.equivalence
    if by.kind == NLI:
        from psopt.models.hf import EntailmentMatcher

        matcher = EntailmentMatcher(by.name, AnswerCache(cache_dir))
    elif by.kind == JUDGE:
        matcher = SamenessJudge(judge(by.name))
    elif by.kind == FUNCTION:
        matcher = _OwnFunction(by.name)
    rater: Rater | None = None
    by = spec.rating
    if by.kind == JUDGE:
        rater = RatingJudge(judge(by.name))
    elif by.kind == FUNCTION:
        rater = _OwnFunction(by.name)
    return Assessor(matcher, rater)


class _OwnFunction(Matcher, Rater):
    """A function of two texts of the user's own, ``MODULE:NAME``; modules in the working directory count.

    ``NAME(answer, other)`` says whether two answers are the same, True or False; ``NAME(answer, reference)`` what an
    answer is worth, a number from 0 to 1: of several references the best.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._function = import_own_function(name, "--answers", "two texts")

    def same(self, pairs: Sequence[Pair]) -> list[bool]:
        wanted = "two answers: True or False is wanted"
        return [bool(self._said(first, second, _is_truth, wanted)) for _, first, second in pairs]

    def rate(self, answers: Sequence[Rated]) -> list[float]:
        wanted = "an answer: a number from 0 to 1 is wanted"
        return [
            max(float(self._said(answer, right, _is_worth, wanted)) for right in references_of(reference))
            for _, reference, answer in answers
        ]

    def _said(self, first: str, second: str, is_verdict: Callable[[Any], bool], wanted: str) -> Any:
        try:
            said = self._function(first, second)
        except Exception as error:  # whatever the user's function does
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"--answers: {self._name} failed on an answer: {reason}") from error
        if not is_verdict(said):
            raise InputError(f"--answers: {self._name} returned {said!r} of {wanted}")
        return said


def _is_truth(said: Any) -> bool:
    return isinstance(said, bool | np.bool_)


def _is_worth(said: Any) -> bool:
    return isinstance(said, bool | int | float | np.bool_ | np.integer | np.floating) and bool(0 <= said <= 1)
