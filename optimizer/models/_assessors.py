"""What compares and rates a task's free answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import InputError, import_own_function
from psopt.models._answer_cache import AnswerCache
from psopt.models._assessment import Assessor, Matcher, Rater
from psopt.models.chat import RatingJudge, SamenessJudge, load_writer
from psopt.tasks import FUNCTION, JUDGE, NLI, references_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from psopt.models._assessment import Pair, Rated
    from psopt.models.chat import Budget, LMConfig, Writer
    from psopt.tasks import AnswerSpec


def assessor_for(
    spec: AnswerSpec, cache_dir: Path | None, options: LMConfig | None, budget: Budget | None
) -> Assessor | None:
    """Return what compares or rates a task's answers, None where the answers alone are enough; raises InputError."""
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
    """The user's own function of two texts, ``MODULE:NAME``; the module may be in the working directory.

    ``NAME(answer, other)`` says whether two answers are the same, True or False. ``NAME(answer, reference)`` says what
    an answer is worth, a number from 0 to 1; of several references the best one counts.
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
            verdict = self._function(first, second)
        except Exception as error:  # the user's function may raise anything
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"--answers: {self._name} failed on an answer: {reason}") from error
        if not is_verdict(verdict):
            raise InputError(f"--answers: {self._name} returned {verdict!r} of {wanted}")
        return verdict


def _is_truth(verdict: Any) -> bool:
    return isinstance(verdict, bool | np.bool_)


def _is_worth(verdict: Any) -> bool:
    return isinstance(verdict, bool | int | float | np.bool_ | np.integer | np.floating) and bool(0 <= verdict <= 1)
