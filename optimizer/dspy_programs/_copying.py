"""Copies of programs that share no step with what they were made of."""

from __future__ import annotations

import copy
from typing import Any

from psopt.dspy_programs._contents import is_filled
from psopt.dspy_programs._dspy import dspy
from psopt.errors import InputError


def copy_of(program: Any) -> Any:
    """Copy a program: what can't be copied, a client or a lock, is shared, and no predictor ever is.

    DSPy's own copy shares a whole list, steps and all, if one thing in it can't be copied.

    Raises InputError if a predictor would be shared all the same, naming the attribute.
    """
    steps = {id(predictor) for _, predictor in program.named_predictors()}
    copied = program.deepcopy()
    if _shared(copied, steps) is None:
        return copied
    copied = _parts_copied(program, {})
    if (name := _shared(copied, steps)) is not None:
        raise InputError(
            f"{type(program).__name__}.{name} can't be copied: the copy shares its predictor with yours, which every "
            "program that is tried would change; call steps by self, and keep clients and locks out of what holds them"
        )
    return copied


def _shared(copied: Any, steps: set[int]) -> str | None:
    held = [
        *copied.named_predictors(),
        *((name, of) for name, part in vars(copied).items() for of in _closed_over(part)),
    ]
    return next((name for name, predictor in held if id(predictor) in steps), None)


def _closed_over(part: Any) -> list[Any]:
    """What a function closes over, which a copy of it does too."""
    return [cell.cell_contents for cell in getattr(part, "__closure__", None) or () if is_filled(cell)]


def _parts_copied(value: Any, copies: dict[int, Any]) -> Any:
    """A copy part by part, where named_predictors looks; a part that can't be copied is shared."""
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
    try:
        copies[id(value)] = copy.deepcopy(value)
    except Exception:  # noqa: BLE001  # somebody's object: whatever it raises, it can't be copied
        copies[id(value)] = value
    return copies[id(value)]
