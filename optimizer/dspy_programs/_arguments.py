"""The arguments of `SensitivityOptimizer` and its `compile`: what can't be used is refused before any call."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from numbers import Integral
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._outcome import n_extra_arguments
from psopt.dspy_programs._sizing import AUTO_CALLS
from psopt.errors import InputError, UnknownNameError, nearest
from psopt.evaluation import OBJECTIVES
from psopt.models.chat import LMConfig
from psopt.tasks import ORDINAL
from psopt.tracking import Tracker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


# Arguments of `compile`: the last two have no effect
_TAKEN = ("num_trials", "seed", "max_errors", "num_threads", "provide_traceback", "requires_permission_to_run")
_OF_OTHER_OPTIMIZERS = {  # by patterns of their names
    "max_*_demos": "how many demonstrations there are is searched for",
    "minibatch*": "racing decides how much of the valset a program is asked about",
    "*_aware_proposer": "give prompt_model=.. to let a model propose",
    "view_data_batch_size": "give prompt_model=.. to let a model propose",
    "eval_kwargs": "num_threads=.. and max_errors=.. are arguments of their own",
    "restrict": "give the sets that are to be used",
    "labeled_sample": "give the sets that are to be used",
}
_LEAST = {
    "num_trials": 1,
    "num_rephrasings": 2,
    "num_threads": 1,
    "seed": 0,
    "max_calls": 0,
    "max_errors": 0,
    "max_prompt_tokens": 1,
}
_ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "equivalence": (callable, "a function of two answers, not {}"),
    "label_field": (lambda value: isinstance(value, str), "the name of one output, not {}"),
    "lm": (lambda value: isinstance(value, LMConfig), "a psopt.LMConfig, not {}; name the model with task_model=.."),
    "order": (lambda value: not isinstance(value, str), "a list of labels from lowest to highest, not the text {}"),
    "auto": (AUTO_CALLS.__contains__, f"one of {', '.join(AUTO_CALLS)} or None, not {{}}"),
}
_PICKS = ("recommended", "knee", "short", *OBJECTIVES)
_ID_OR_QUERY = re.compile(r"[0-9a-f]{4,}|.* .*")  # see `psopt.Run.pick`


def check_values(optimizer: Any) -> None:
    """Refuse invalid settings of a `SensitivityOptimizer`; raises InputError, which names the argument."""
    for name, least in _LEAST.items():
        value = getattr(optimizer, name)
        if value is None and name != "seed":
            continue
        if not isinstance(value, Integral) or value < least:
            raise InputError(f"{name} must be a whole number, {least} or more, not {value!r}")
    if optimizer.metric is not None:
        n_extra_arguments(optimizer.metric)  # refuses what is no metric
    for name, (is_allowed, allowed) in _ALLOWED.items():
        value = getattr(optimizer, name)
        if value is not None and not is_allowed(value):
            raise InputError(f"{name} must be {allowed.format(repr(value))}")
    if optimizer.pick not in _PICKS and not _ID_OR_QUERY.fullmatch(str(optimizer.pick)):
        raise UnknownNameError("pick", str(optimizer.pick), _PICKS)
    if optimizer.answers == ORDINAL and optimizer.metric is not None:
        raise InputError("a metric says what an answer is worth, and so does answers='ordinal': give one of them")
    if optimizer.auto is not None and (optimizer.num_trials, optimizer.num_rephrasings) != (None, None):
        raise InputError("auto sets num_trials and num_rephrasings: give it, or them")


def listed_callbacks(callbacks: Any) -> list[Any]:
    """The callbacks; one that was given without a list is taken too."""
    if isinstance(callbacks, (str, Tracker, dspy.utils.BaseCallback)) or callable(callbacks):
        return [callbacks]
    return list(callbacks)


def check_modules(student: Any, teacher: Any) -> None:
    """Refuse what is no program; raises InputError."""
    for name, program in (("student", student), ("teacher", teacher)):
        if not isinstance(program, dspy.Module) and (name == "student" or program is not None):
            raise InputError(f"the {name} is no dspy.Module but a {type(program).__name__}")


def check_names(arguments: Iterable[str]) -> None:
    """Refuse arguments of `compile` that mean nothing here; raises InputError, which names the argument."""
    for name in arguments:
        for pattern, reason in _OF_OTHER_OPTIMIZERS.items():
            if fnmatch(name, pattern):
                raise InputError(f"compile: {name} means nothing to SensitivityOptimizer: {reason}")
        if name not in _TAKEN:
            raise InputError(f"compile does not know {name}{nearest(name, _TAKEN)}")
