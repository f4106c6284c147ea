"""From what the user names to trackers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import InputError, UnknownNameError
from psopt.tracking._base import CallbackTracker, OptunaCallback, Tracker
from psopt.tracking._mlflow import MLflowTracker
from psopt.tracking._otel import OTelTracker
from psopt.tracking._wandb import WandbTracker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import optuna

Callback = str | Tracker | OptunaCallback
"""What `psopt.optimize` takes as a callback: a tracker by its name, a tracker, or a function of Optuna's form."""

OFF = "off"  # in place of names: no tracker
_TRACKERS: dict[str, Callable[[str], Tracker]] = {
    "mlflow": MLflowTracker,
    "wandb": WandbTracker,
    "otel": lambda _: OTelTracker(),
}


def tracker_names(asked: Iterable[str]) -> tuple[str, ...]:
    """Read ``--log``: names with commas between, with an experiment or a project after a colon; ``off`` for none.

    >>> tracker_names(["mlflow:tickets,otel", "wandb"])
    ('mlflow:tickets', 'otel', 'wandb')

    Raises InputError if there is no such tracker, or one is named twice.
    """
    names = [name.strip() for part in asked for name in part.split(",")]
    if names == [OFF]:
        return ()
    kinds = []
    for name in names:
        kind, colon, place = name.partition(":")
        if kind not in _TRACKERS:
            raise UnknownNameError("tracker in --log", kind, (*_TRACKERS, OFF))
        if colon and (not place or kind == "otel"):
            raise InputError(f"--log {name}: an experiment follows mlflow:, a project wandb:, and nothing otel")
        kinds.append(kind)
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
    """Make the trackers of these names, and of callbacks; those that are trackers are taken as they are."""
    named = [_TRACKERS[kind](place) for kind, _, place in (name.partition(":") for name in names)]
    return named + [each if isinstance(each, Tracker) else CallbackTracker(each, study) for each in callbacks]
