"""Edits as Optuna's parameters: one boolean parameter an edit or bundle, and one for the order of the examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import optuna
from psopt.search.distributed._study_keys import DROPPED, EDIT, EXAMPLE_ORDER
from psopt.search_spaces import ORDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from psopt.search_spaces import Edit


def names_of(edits: Iterable[Edit]) -> set[str]:
    """Return the names of the parameters that switch these edits on."""
    return {edit.parameter_name for edit in edits}


def first_parameters(edits: Sequence[Edit], most: int) -> list[Edit]:
    """Return the edits of the first `most` parameters."""
    first = list(dict.fromkeys(edit.parameter_name for edit in edits))[:most]
    return [edit for edit in edits if edit.parameter_name in first]


def suggest(trial: optuna.Trial, pool: Iterable[Edit], orders: Sequence[str]) -> tuple[tuple[Edit, ...], str]:
    """Ask the sampler for a subset of the pool, in the pool's order, and if it holds examples for one of `orders`."""
    edits = tuple(edit for edit in pool if trial.suggest_categorical(_parameter(edit), [False, True]))
    if len(orders) > 1 and any(edit.kind == "example" for edit in edits):
        return edits, trial.suggest_categorical(EXAMPLE_ORDER, orders)
    return edits, orders[0]


def chosen_edits(params: Mapping[str, Any], pool: Iterable[Edit]) -> tuple[tuple[Edit, ...], str]:
    """Return the edits that a trial's parameters switch on, in the pool's order, and the order of the examples."""
    return tuple(edit for edit in pool if params.get(_parameter(edit))), params.get(EXAMPLE_ORDER, ORDERS[0])


def enqueue(study: optuna.Study, names: Iterable[str], pool: Iterable[Edit], order: str | None = None) -> None:
    """Queue the candidate that applies the edits with these parameter names and no other edit of the pool."""
    chosen = set(names)
    params: dict[str, bool | str] = {_parameter(edit): edit.parameter_name in chosen for edit in pool}
    study.enqueue_trial(params if order is None else {**params, EXAMPLE_ORDER: order})


def drop_queued(study: optuna.Study) -> None:
    """Take back what waits in the queue."""
    for _ in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.WAITING,)):
        trial = study.ask()
        trial.set_user_attr(DROPPED, "a shorter prompt is tried in its place")
        study.tell(trial, state=optuna.trial.TrialState.PRUNED)


def _parameter(edit: Edit) -> str:
    return f"{EDIT}{edit.parameter_name}"
