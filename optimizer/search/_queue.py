"""Candidates that wait in the study, to be evaluated before the sampler is asked for more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import optuna
from psopt.search.distributed._study_keys import DROPPED
from psopt.search_spaces import parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.search_spaces import Edit


def enqueue(study: optuna.Study, names: Iterable[str], pool: Iterable[Edit], order: str | None = None) -> None:
    """Queue the candidate that applies the edits with these parameter names and no other edit of the pool."""
    study.enqueue_trial(parameters_of(names, pool, order))


def drop_queued(study: optuna.Study) -> None:
    """Take back what waits in the queue."""
    for _ in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.WAITING,)):
        trial = study.ask()
        trial.set_user_attr(DROPPED, "a shorter prompt is tried in its place")
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)
