"""The rephrasings of a task: those written for it, else by rule."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
from psopt.rephrasings._frames import Named
from psopt.rephrasings._rules import check_enough, check_numbers, rephrase_by_rules, rephrasings
from psopt.rephrasings._set import RephrasingSet, comparable

if TYPE_CHECKING:
    from psopt.rephrasings._frames import Side
    from psopt.tasks import Task


def rephrasings_for(
    task: Task,
    n_search: int = 10,
    n_heldout: int = 10,
    *,
    description: str | None = None,
    seed: int = 42,
    n_parts: int = 0,
    own_form: bool = True,
) -> RephrasingSet:
    """Return the rephrasings of a task's description, frozen.

    For a built-in task with its own description they are those written for this project, in an order that the seed
    decides (so that a larger set begins with the smaller one); rules fill up what is asked for beyond them, and do
    everything for any other description.

    Raises InputError if a number is too small, or larger than the rules can satisfy; or if the description is empty.

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
        At least 0.
    n_parts : int
        Of how many parts the description is, where it is a template's; see `rephrase_by_rules`.
    own_form : bool
        Whether psopt's own form stands around it, which lists the labels and asks for one of them alone.
    """
    check_numbers(n_search, n_heldout, seed)
    original = task.description if description is None else description
    if not n_parts:
        original = " ".join(original.split())
    curated = read_curated(task.name)
    if curated is None or comparable(curated.original) != comparable(original):
        labels = () if task.spec.is_open else task.labels
        return rephrase_by_rules(
            original,
            task.noun,
            n_search,
            n_heldout,
            seed,
            protect=task.labels,
            n_parts=n_parts,
            labels=labels,
            asks_for_label=own_form and not n_parts,
        )
    return replace(_curated_first(task, curated, original, n_search, n_heldout, seed), n_parts=n_parts)


def _curated_first(
    task: Task, curated: _Curated, original: str, n_search: int, n_heldout: int, seed: int
) -> RephrasingSet:
    rng = np.random.default_rng([seed, 4])
    search = [original, *(curated.search[int(index)] for index in rng.permutation(len(curated.search)))]
    heldout = [curated.heldout[int(index)] for index in rng.permutation(len(curated.heldout))]
    sides: tuple[tuple[Side, list[str], int], ...] = (("search", search, n_search), ("heldout", heldout, n_heldout))
    for side, texts, wanted in sides:
        by_rule = rephrasings(original, Named(task.noun), side, seed, task.labels, avoid=(*search, *heldout))
        texts += itertools.islice(by_rule, max(0, wanted - len(texts)))
        check_enough("search" if side == "search" else "held-out", texts, wanted)
    return RephrasingSet(original, tuple(search[:n_search]), tuple(heldout[:n_heldout]), "builtin")


@dataclass(frozen=True, slots=True)
class _Curated:
    """The rephrasings written for a task's original description; the original itself is in neither list."""

    original: str
    search: tuple[str, ...]
    heldout: tuple[str, ...]


def read_curated(task_name: str) -> _Curated | None:
    """Return what is written for a built-in task, or None."""
    file = resources.files("psopt.rephrasings.builtin").joinpath(f"{task_name}.json")
    if not task_name.isidentifier() or not file.is_file():
        return None
    data = json.loads(file.read_text("utf-8"))
    return _Curated(data["original"], tuple(data["search"]), tuple(data["heldout"]))
