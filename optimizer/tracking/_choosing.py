"""From what the user names to trackers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import InputError, UnknownNameError, import_own
from psopt.tracking._base import CallbackTracker, OptunaCallback, Tracker
from psopt.tracking._mlflow import MLflowTracker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import optuna

Callback = str | Tracker | OptunaCallback
"""What `psopt.optimize` takes as a callback: a tracker by its name, a tracker, or a function of Optuna's form."""

OFF = "off"  # in place of names: no tracker
_MLFLOW = "mlflow"
_RECIPES = {"wandb": "wandb_tracker:WandbTracker", "otel": "otel_tracker:OTelTracker"}


def tracker_names(asked: Iterable[str]) -> tuple[str, ...]:
    """Read ``--log``: names with commas between; ``off`` for none.

    >>> tracker_names(["mlflow:tickets,my_trackers:Screen"])
    ('mlflow:tickets', 'my_trackers:Screen')

    Raises InputError if there is no such tracker, or one is named twice.
    """
    names = [name.strip() for part in asked for name in part.split(",")]
    if names == [OFF]:
        return ()
    for name in names:
        kind, colon, place = name.partition(":")
        if kind in _RECIPES:
            recipe = _RECIPES[kind]
            raise InputError(f"--log {name}: copy psopt's examples/trackers/{kind}_tracker.py, and give --log {recipe}")
        if kind == _MLFLOW and colon and not place:
            raise InputError(f"--log {name}: an experiment follows mlflow:")
        if kind != _MLFLOW and not colon:
            raise UnknownNameError("tracker in --log", kind, (_MLFLOW, "MODULE:NAME", OFF))
    kinds = [_MLFLOW if name.startswith(f"{_MLFLOW}:") else name for name in names]
    if len(set(kinds)) < len(kinds):
        raise InputError(f"--log {','.join(names)}: each tracker is named once")
    return tuple(names)


def split_callbacks(callbacks: Iterable[Callback]) -> tuple[tuple[str, ...], tuple[Tracker | OptunaCallback, ...]]:
    """Tell names, which a run keeps for its resumption, from objects.

    Raises InputError if a name is unknown, or something can't be called.
    """
    listed = list(callbacks)
    for callback in listed:
        if not (isinstance(callback, str | Tracker) or callable(callback)):
            raise InputError(f"callbacks: {callback!r} is no tracker, no name of one, and can't be called")
    names = tracker_names(callback for callback in listed if isinstance(callback, str))
    return names, tuple(callback for callback in listed if not isinstance(callback, str))


def make_trackers(
    names: Iterable[str],
    callbacks: Sequence[Tracker | OptunaCallback],
    study: Callable[[], optuna.Study | None],
) -> list[Tracker]:
    """Make the trackers of these names, and of callbacks; those that are trackers are taken as they are.

    Raises InputError if a name of the user's own is none of a tracker.
    """
    named = [_named(name) for name in names]
    return named + [each if isinstance(each, Tracker) else CallbackTracker(each, study) for each in callbacks]


def _named(name: str) -> Tracker:
    kind, _, experiment = name.partition(":")
    if kind == _MLFLOW:
        return MLflowTracker(experiment)
    own = import_own(name, "--log")
    if isinstance(own, type) and issubclass(own, Tracker):
        own = own()
    if not isinstance(own, Tracker):
        raise InputError(f"--log {name} is no psopt.tracking.Tracker, but a {type(own).__name__}")
    return own
