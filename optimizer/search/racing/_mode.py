"""Whether the candidates of a search race, or are asked about whole grids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.models import capabilities_of
from psopt.models.chat import asks_in_chat

if TYPE_CHECKING:
    from psopt.evaluation import Evaluator
    from psopt.settings import RaceMode

# Below that, bounds by the normal distribution say nothing; the smallest rung has as many.
_FEWEST_SAMPLES = 20
FEWEST_WORDINGS = 2
"""Disagreement needs two."""


def races(race: RaceMode, evaluator: Evaluator) -> bool:
    """Return whether candidates race; else every candidate is evaluated in whole.

    Raises InputError if racing is asked for by name, and what is compared does not allow it.
    """
    if race == "off":
        return False
    obstacle = _obstacle(evaluator)
    if race == "auto":
        is_worth_it = not capabilities_of(evaluator.model).is_free and not _asks_in_batches(evaluator)
        return is_worth_it and not obstacle
    if obstacle:
        raise InputError(f"--race {race} {obstacle}")
    return True


def check_wordings(race: RaceMode, n_wordings: int) -> None:
    """Refuse a race under one wording: nothing is known of how stable a candidate is.

    Raises InputError if racing is asked for by name.
    """
    if race in {"on", "strict"} and n_wordings < FEWEST_WORDINGS:
        raise InputError(f"--race {race} {_too_few_wordings(n_wordings)}")


def _asks_in_batches(evaluator: Evaluator) -> bool:
    """Whether each rung of a race would be a batch, which may take a day: a whole grid is one too, and asks all."""
    return asks_in_chat(evaluator.model) and evaluator.model.engine.batches is not None


def _obstacle(evaluator: Evaluator) -> str:
    """Why what is compared can't be raced on."""
    n_wordings = len(evaluator.rephrasings.on("val")[0])
    n_samples = len(evaluator.samples["val"])
    if n_wordings < FEWEST_WORDINGS:
        return _too_few_wordings(n_wordings)
    if n_samples < _FEWEST_SAMPLES:
        return f"needs at least {_FEWEST_SAMPLES} samples to compare on, not {n_samples}: leave it out"
    if evaluator.from_probabilities:
        return "compares answers, and --logprobs scores probabilities: leave one of them out"
    can = capabilities_of(evaluator.model)
    if can.is_assessed:
        return "compares answers as they come in, and here something is asked about whole grids of them: leave it out"
    if not can.can_race:
        return "compares labels, and here a metric scores the answers: leave it out"
    return ""


def _too_few_wordings(n_wordings: int) -> str:
    return f"needs at least {FEWEST_WORDINGS} wordings, not {n_wordings}: give --rephrasings 2 or more, or leave it out"
