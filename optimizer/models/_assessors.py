"""Who compares and rates a task's free answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.models._answer_cache import AnswerCache
from psopt.models._assessor import Assessor
from psopt.models._own_assessors import OwnMatcher, OwnRater
from psopt.tasks import FUNCTION, JUDGE, NLI

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.models._assessor import Matcher, Rater
    from psopt.models.chat import Budget, LMConfig, Writer
    from psopt.tasks import AnswerSpec


def assessor_for(
    spec: AnswerSpec, cache_dir: Path | None, options: LMConfig | None, budget: Budget | None
) -> Assessor | None:
    """Return who compares or rates a task's answers; None where the answers themselves tell.

    Raises
    ------
    InputError
        If there is no such model or function, or a judge is to be asked by batches.
    """
    if not spec.is_assessed:
        return None

    def judge(model: str) -> Writer:
        from psopt.models.chat import load_writer

        if options and options.batch:
            raise InputError("--batch is for answers without a judge, who is asked call by call: leave it out")
        return load_writer(model, cache_dir=cache_dir, options=options, budget=budget)

    def matcher() -> Matcher | None:
        by = spec.equivalence
        if by.kind == NLI:
            from psopt.models.hf import EntailmentMatcher

            return EntailmentMatcher(by.name, AnswerCache(cache_dir))
        if by.kind == JUDGE:
            from psopt.models.chat import SamenessJudge

            return SamenessJudge(judge(by.name))
        return OwnMatcher(by.name) if by.kind == FUNCTION else None

    def rater() -> Rater | None:
        by = spec.rating
        if by.kind == JUDGE:
            from psopt.models.chat import RatingJudge

            return RatingJudge(judge(by.name))
        return OwnRater(by.name) if by.kind == FUNCTION else None

    return Assessor(matcher(), rater())
