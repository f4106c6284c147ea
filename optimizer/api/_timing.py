"""How fast a model that answers here does so: a few answers are timed before a run, and count in it."""

from __future__ import annotations

from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from psopt.models import capabilities_of, n_computed
from psopt.models.chat import AnswerRate, keep_rate, kept_rate
from psopt.runs import Pace

if TYPE_CHECKING:
    from psopt.evaluation import Evaluator
    from psopt.models import Model, ModelProvider
    from psopt.search_spaces import Prompt

_FIRST = 8  # answers that are timed; twice as many where that is over too soon, and so on
_LONG_ENOUGH = 1.0  # seconds; chosen: what a prompt's beginning takes is spread over as many texts as fit
_FEWEST = 4  # answers that were computed and not cached, below which their time tells nothing


def kept_pace(model: Model, models: ModelProvider) -> Pace | None:
    """How fast a local model was when it was last timed; None where nobody knows, and for others."""
    if not capabilities_of(model).costs_time:
        return None
    rate = kept_rate(models.cache_dir, model.name, None)
    return Pace(rate.per_minute, rate.day) if rate else None


def timed_pace(evaluator: Evaluator, prompt: Prompt, models: ModelProvider) -> Pace | None:
    """Time answers that a run asks for anyway, those to the original prompt on val, and keep how fast they came.

    Where they are in the cache, what was kept before tells it.
    """
    per_second = _answers_a_second(evaluator, prompt)
    if per_second is None:
        return kept_pace(evaluator.model, models)
    day = datetime.now(UTC).date().isoformat()
    keep_rate(models.cache_dir, evaluator.model.name, None, AnswerRate(60 * per_second, 1, day))
    return Pace(60 * per_second, day)


def _answers_a_second(evaluator: Evaluator, prompt: Prompt) -> float | None:
    rows = np.flatnonzero(~evaluator.partial_answers(prompt, "val").is_answered[:, 0])

    def ask(start: int, end: int) -> None:
        cells = np.zeros_like(evaluator.partial_answers(prompt, "val").is_answered)
        cells[rows[start:end], 0] = True
        evaluator.answers(prompt, "val", cells)

    ask(0, 1)  # for the first answer a model is loaded
    per_second, start, size = None, 1, _FIRST
    while start < len(rows):
        computed_before, begin = n_computed(evaluator.model), perf_counter()
        ask(start, start + size)
        seconds = perf_counter() - begin
        asked = min(size, len(rows) - start)
        computed = asked if computed_before is None else (n_computed(evaluator.model) or 0) - computed_before
        if computed >= _FEWEST and seconds > 0:
            per_second = computed / seconds
            if seconds >= _LONG_ENOUGH:
                break
        start, size = start + size, 2 * size
    return per_second
