"""The rephrasings of a task: those written for it, else by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import InputError

from ._builtin import Written, read_written
from ._rules import rephrase_by_rules
from ._set import RephrasingSet, comparable

if TYPE_CHECKING:
    from psopt.tasks import Task


def rephrasings_for(
    task: Task, n_search: int = 10, n_heldout: int = 10, *, description: str | None = None, seed: int = 42
) -> RephrasingSet:
    """Return the rephrasings of a task's description, frozen.

    For a built-in task with its own description they are those written for this project, in an order that the seed
    decides (so that a larger set begins with the smaller one); rules fill up what is asked for beyond them, and do
    everything for any other description.

    Parameters
    ----------
    task : Task
    n_search : int
        Q, the original among them; at least 1.
    n_heldout : int
        At least 1.
    description : str, optional
        rho_0, where it is not the task's own.
    seed : int

    Raises
    ------
    InputError
        If a number is too small, or larger than the rules can satisfy.
    """
    for name, number in (("n_search", n_search), ("n_heldout", n_heldout)):
        if number < 1:
            raise InputError(f"{name} must be at least 1, not {number}")
    original = " ".join((description or task.description).split())
    written = read_written(task.name)
    if written is None or comparable(written.original) != comparable(original):
        return rephrase_by_rules(original, n_search=n_search, n_heldout=n_heldout, seed=seed, protect=task.labels)
    return _from_written(written, original, n_search, n_heldout, seed, task.labels)


def _from_written(
    written: Written, original: str, n_search: int, n_heldout: int, seed: int, labels: tuple[str, ...]
) -> RephrasingSet:
    rng = np.random.default_rng([seed, 4])
    search = [original, *(written.search[int(index)] for index in rng.permutation(len(written.search)))]
    heldout = [written.heldout[int(index)] for index in rng.permutation(len(written.heldout))]
    more_search, more_heldout = max(0, n_search - len(search)), max(0, n_heldout - len(heldout))
    if more_search or more_heldout:
        ruled = rephrase_by_rules(
            original, n_search=more_search + 1, n_heldout=max(1, more_heldout), seed=seed, protect=labels
        )
        search += ruled.search[1:]
        heldout += ruled.heldout[:more_heldout]
    return RephrasingSet(original, tuple(search[:n_search]), tuple(heldout[:n_heldout]), "builtin")
