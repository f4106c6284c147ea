"""Candidates that wait in the study, to be evaluated before the sampler is asked for more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optuna.trial import TrialState
from psopt.search._trial import drop_trial
from psopt.search_spaces import parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import optuna
    from psopt.search.distributed import StoredStudy
    from psopt.search_spaces import Edit


def enqueue(study: optuna.Study, names: Iterable[str], pool: Iterable[Edit], order: str | None = None) -> None:
    """Queue the candidate that applies the edits with these parameter names and no other edit of the pool."""
    study.enqueue_trial(parameters_of(names, pool, order))


def drop_queued(study: StoredStudy) -> None:
    """Take back what waits in the queue; what another worker takes at the same time is that worker's."""
    for _ in study.trials_in(TrialState.WAITING):
        drop_trial(study, study.ask(), "a shorter prompt is tried in its place")
