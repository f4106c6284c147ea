"""Copies of programs that share no step with the original."""

from __future__ import annotations

import copy
from typing import Any

from psopt.dspy_programs._dspy import dspy
from psopt.errors import InputError


def copy_of(program: Any) -> Any:
    """Copy a program: objects that cannot be copied, such as clients or locks, are shared, but predictors never are.

    DSPy's own copy warns about each such object, and shares a whole list, including steps, if one item in it cannot be
    copied.

    Raises InputError, which names the attribute, if a predictor would still be shared.
    """
    steps = {id(predictor) for _, predictor in program.named_predictors()}
    try:
        copied = copy.deepcopy(program)
    except Exception:  # noqa: BLE001  # a user's object: if it raises anything, it cannot be copied
        copied = _parts_copied(program, {})
    if (name := _shared(copied, steps)) is not None:
        raise InputError(
            f"{type(program).__name__}.{name} can't be copied: the copy shares its predictor with yours, which every "
            "program that is tried would change; call steps by self, and keep clients and locks out of what holds them"
        )
    return copied


def _shared(copied: Any, steps: set[int]) -> str | None:
    """The name of a step that is also the original's."""
    return next((name for name, predictor in copied.named_predictors() if id(predictor) in steps), None)


def _parts_copied(value: Any, copies: dict[int, Any]) -> Any:
    """A copy, part by part, wherever named_predictors looks; parts that cannot be copied are shared."""
    if id(value) in copies:
        return copies[id(value)]
    if isinstance(value, dspy.Module):
        kind: Any = type(value)
        twin = copies[id(value)] = kind.__new__(kind)
        twin.__dict__.update({name: _parts_copied(part, copies) for name, part in vars(value).items()})
        return twin
    if type(value) is dict:
        return {key: _parts_copied(part, copies) for key, part in value.items()}
    if type(value) in {list, tuple}:
        return type(value)(_parts_copied(part, copies) for part in value)
    memo = dict(copies)  # a failed copy leaves unfinished parts in it
    try:
        copied = copy.deepcopy(value, memo)
    except Exception:  # noqa: BLE001  # likewise
        copied = copies[id(value)] = value
    else:
        copies |= memo
    return copied
