"""Candidates that wait in the study, to be evaluated before the sampler is asked for more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from optuna.trial import TrialState
from psopt.search._fitting import in_place_of
from psopt.search._trial import drop_trial
from psopt.search_spaces import parameter_names, parameters_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import optuna
    from psopt.search._sources import Choice
    from psopt.search._state import SearchState
    from psopt.search.distributed import StoredStudy
    from psopt.search_spaces import Edit

_TRIES_FOR_A_NEIGHBOUR = 30  # of one that is known: nothing is asked for them, and nothing stored
_MOST_FLIPS = 2  # edits by which a neighbour differs from a candidate that is known


class CandidateQueue:
    """Puts candidates in front of what the sampler draws.

    Parameters
    ----------
    state : SearchState
        Tells what is known already.
    worker : str
        So that workers draw different neighbours; empty where there is only one.
    """

    def __init__(self, study: StoredStudy, state: SearchState, worker: str) -> None:
        self._study = study
        self._state = state
        self._history = state.history
        self._worker = worker
        seed = state.problem.options.seed
        self._rng = np.random.default_rng([seed, *worker.encode()] if worker else seed)

    def put(self, choices: Sequence[Choice]) -> None:
        """Queue candidates; edits that the pool lacks are written to the study first, as one more round."""
        known = {edit.id for edit in self._history.pool}
        new = {edit.id: edit for choice in choices for edit in choice.edits if edit.id not in known}
        if new:
            self._history.add_edits(new.values(), self._worker)
        for choice in choices:
            enqueue(self._study, parameter_names(choice.edits), self._history.pool, choice.order)

    def put_untried(self, edits: tuple[Edit, ...], order: str) -> None:
        """Queue edits, or others near them where they are known already: found before a trial is spent on them."""
        for _ in range(_TRIES_FOR_A_NEIGHBOUR):
            if self._history.find(self._history.prompt_of(edits, order).id) is None:
                break
            edits = self.neighbour(edits)
        order_parameter = self._state.problem.order_parameter(edits, order)
        enqueue(self._study, parameter_names(edits), self._history.pool, order_parameter)

    def neighbour(self, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        """Return edits that differ from these by one or two, as far as they fit."""
        searched = self._history.pool
        names = list(dict.fromkeys(edit.parameter_name for edit in searched))
        if not names:
            return edits
        chosen = parameter_names(edits)
        n_flips = int(self._rng.integers(1, 1 + min(_MOST_FLIPS, len(names))))
        for index in self._rng.choice(len(names), size=n_flips, replace=False):
            chosen ^= {names[int(index)]}
        near = tuple(edit for edit in searched if edit.parameter_name in chosen)
        return in_place_of(self._state, near)


def enqueue(study: optuna.Study, names: Iterable[str], pool: Iterable[Edit], order: str | None = None) -> None:
    """Queue the candidate that applies the edits with these parameter names and no other edit of the pool."""
    study.enqueue_trial(parameters_of(names, pool, order))


def drop_queued(study: StoredStudy) -> None:
    """Take back what waits in the queue; what another worker takes at the same time is that worker's."""
    for _ in study.trials_in(TrialState.WAITING):
        drop_trial(study, study.ask(), "a shorter prompt is tried in its place")
