"""Pinned samples of a check: those that must be right under every wording, in whichever split they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.api._measure import chosen_samples
from psopt.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from psopt.settings import MeasureOptions
    from psopt.tasks import Sample, Task


def pinned_samples(task: Task, named: Collection[str] = ()) -> tuple[Sample, ...]:
    """The samples that the data pin, and those whose ids are named.

    Raises
    ------
    InputError
        If no sample has such an id.
    """
    samples = (*task.train, *task.val, *task.test)
    ids = {sample.id for sample in samples}
    for name in named:
        if name not in ids:
            hint = nearest(name, ids) or f": their ids are such as {', '.join(sorted(ids)[:3])}"
            raise InputError(f"the pinned sample {name!r} is none of the {len(ids)} samples{hint}")
    return tuple(sample for sample in samples if sample.pinned or sample.id in named)


def not_among(pinned: Sequence[Sample], measured: Sequence[Sample]) -> tuple[Sample, ...]:
    """The pinned samples that have to be asked about beside those that are measured anyhow."""
    ids = {sample.id for sample in measured}
    return tuple(sample for sample in pinned if sample.id not in ids)


def further_pinned(task: Task, options: MeasureOptions, named: Collection[str] = ()) -> tuple[Sample, ...]:
    """The pinned samples that a check asks about beside those that it measures on."""
    return not_among(pinned_samples(task, named), chosen_samples(task, options))
