"""Edits that leave the search, since they clearly do no good: no further candidate has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.search._edit_effects import edit_effects
from psopt.search.distributed._study_keys import LEFT
from psopt.search.racing import NEGLIGIBLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.search._edit_effects import EditEffects
    from psopt.search._history import History
    from psopt.search.distributed import StoredStudy
    from psopt.search_spaces import Edit

_CLEARLY = 1.645  # standard errors: one-sided bounds of 95 %
# Candidates with the edit, and without it: below that a single one that has much else besides might decide. Chosen.
_FEWEST = 4


class LeftEdits:
    """The edits that have left, as they stand in the study: workers and whoever resumes it keep to them.

    Parameters
    ----------
    study : StoredStudy
    is_active : bool
        Whether edits may leave; an attribute too, which experiments switch off.
    """

    def __init__(self, study: StoredStudy, *, is_active: bool) -> None:
        self._study = study
        self.is_active = is_active
        self._n_judged = 0

    @property
    def trials(self) -> dict[str, int]:
        """After which trial they left, by their parameters' names."""
        if not self.is_active:
            return {}
        attributes = self._study.user_attrs.items()
        return {key.removeprefix(f"{LEFT}:"): int(trial) for key, trial in attributes if key.startswith(f"{LEFT}:")}

    def without_left(self, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """Leave out the edits that have left, and what merges nothing but these."""
        left = self.trials
        return tuple(edit for edit in edits if not left.keys() >= set(edit.stands_for))

    def judge(self, history: History) -> list[str]:
        """Let edits leave that clearly do no good by all trials so far; return the names of their parameters."""
        n_evaluated = len(history.evaluated)
        if not self.is_active or n_evaluated == self._n_judged:
            return []
        self._n_judged = n_evaluated
        if n_evaluated < 2 * _FEWEST:
            return []
        estimates = history.estimates()
        left = self.trials
        new = [name for name in hopeless(edit_effects(estimates, history.pool)) if name not in left]
        for name in new:
            self._study.set_user_attr(f"{LEFT}:{name}", estimates[-1].trial)
        return new


def hopeless(effects: EditEffects) -> list[str]:
    """Return the parameters of edits that are clearly no better in any objective, and clearly worse in one.

    No better is who may be better by a negligible amount at most, as in races.
    """
    highest = effects.means + _CLEARLY * effects.errors
    is_told = (effects.n_with >= _FEWEST) & (effects.n - effects.n_with >= _FEWEST)
    is_no_better = (effects.means <= 0).all(axis=1) & (highest < NEGLIGIBLE).all(axis=1)
    is_worse = (highest < 0).any(axis=1)
    return [effects.parameters[place] for place in np.flatnonzero(is_told & is_no_better & is_worse)]
