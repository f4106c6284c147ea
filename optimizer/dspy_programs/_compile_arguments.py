"""Arguments of `compile` that other DSPy optimizers have: accepted if they mean something here, otherwise refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

TAKEN = ("num_trials", "seed", "max_errors", "num_threads", "provide_traceback", "requires_permission_to_run")
"""Accepted: the first four override the optimizer's own; the last has no effect in psopt."""
_IN_ITS_PLACE = {
    "max_bootstrapped_demos": "how many demonstrations there are is searched for",
    "max_labeled_demos": "how many demonstrations there are is searched for",
    "minibatch": "racing decides how much of the valset a program is asked about",
    "minibatch_size": "racing decides how much of the valset a program is asked about",
    "minibatch_full_eval_steps": "racing decides how much of the valset a program is asked about",
    "program_aware_proposer": "give prompt_model=.. to let a model propose",
    "data_aware_proposer": "give prompt_model=.. to let a model propose",
    "tip_aware_proposer": "give prompt_model=.. to let a model propose",
    "fewshot_aware_proposer": "give prompt_model=.. to let a model propose",
    "view_data_batch_size": "give prompt_model=.. to let a model propose",
    "eval_kwargs": "num_threads=.. and max_errors=.. are arguments of their own",
    "restrict": "give the sets that are to be used",
    "labeled_sample": "give the sets that are to be used",
}


def check_arguments(given: Mapping[str, Any]) -> None:
    """Refuse arguments that mean nothing here, by name, before anything is spent.

    Raises InputError, which names the argument and its replacement.
    """
    for name in given:
        if name in TAKEN:
            continue
        if name in _IN_ITS_PLACE:
            raise InputError(f"compile: {name} means nothing to SensitivityOptimizer: {_IN_ITS_PLACE[name]}")
        raise InputError(f"compile does not know {name}{nearest(name, TAKEN)}")
