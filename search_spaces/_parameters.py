"""Edits and orders as Optuna's parameters: one boolean parameter an edit or bundle, and one for the examples' order.

The names and values are persisted: studies are read by them, and none may be renamed. An edit's parameter is called by
its title, which is kept with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.search_spaces._edits import ORDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import optuna
    from psopt.search_spaces._edits import Edit

_EXAMPLE_ORDER = "example-order"


def parameter_names(edits: Iterable[Edit]) -> set[str]:
    """Return the names by which psopt knows the parameters that choose these edits."""
    return {edit.parameter_name for edit in edits}


def first_parameters(edits: Sequence[Edit], most: int) -> list[Edit]:
    """Return the edits of the first `most` parameters."""
    first = list(dict.fromkeys(edit.parameter_name for edit in edits))[:most]
    return [edit for edit in edits if edit.parameter_name in first]


def suggest_edits(trial: optuna.Trial, pool: Iterable[Edit], orders: Sequence[str]) -> tuple[tuple[Edit, ...], str]:
    """Ask the sampler for a subset of the pool, in the pool's order, and if it holds examples for one of `orders`."""
    edits = tuple(edit for edit in pool if trial.suggest_categorical(edit.title, [False, True]))
    if len(orders) > 1 and any(edit.kind == "example" for edit in edits):
        return edits, trial.suggest_categorical(_EXAMPLE_ORDER, orders)
    return edits, orders[0]


def chosen_edits(params: Mapping[str, Any], pool: Iterable[Edit]) -> tuple[tuple[Edit, ...], str]:
    """Return the edits that a trial's parameters choose, in the pool's order, and the order of the examples."""
    return tuple(edit for edit in pool if params.get(edit.title)), params.get(_EXAMPLE_ORDER, ORDERS[0])


def parameters_of(names: Iterable[str], pool: Iterable[Edit], order: str | None = None) -> dict[str, bool | str]:
    """Return the parameters that choose the edits of these names and no other edit of the pool."""
    chosen = set(names)
    params: dict[str, bool | str] = {edit.title: edit.parameter_name in chosen for edit in pool}
    return params if order is None else {**params, _EXAMPLE_ORDER: order}
