"""Labels that stand in an order: which one, and where on the scale each of them stands."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from psopt.errors import DataError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence


def in_order(where: str, labels: Sequence[str], order: Sequence[str]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the labels from the least to the most, and their places on the scale.

    Labels that are numbers need no order: they stand at their values. Others stand as far apart as they are in the
    order, which may hold labels that the data don't.

    Raises DataError if there is no order, or it lacks a label.

    Examples
    --------
    >>> in_order("reviews.csv", ["1", "10", "2"], [])
    (('1', '2', '10'), (1.0, 2.0, 10.0))
    >>> in_order("tickets.csv", ["high", "low"], ["low", "medium", "high"])
    (('low', 'medium', 'high'), (0.0, 1.0, 2.0))
    """
    if order:
        for label in labels:
            if label not in order:
                hint = nearest(label, order) or f": {', '.join(order)}"
                raise DataError(f"{where}: label {label!r} is not in the order of labels{hint}")
        if len(set(order)) < len(order):
            raise DataError(f"{where}: the order of labels names one twice: {', '.join(order)}")
        return tuple(order), tuple(map(float, range(len(order))))
    values = {label: number_of(label) for label in labels}
    wordy = next((label for label, value in values.items() if value is None), None)
    if wordy is not None:
        raise DataError(f"{where}: label {wordy!r} is no number, so say the order: --order low,medium,high")
    places = {label: value for label, value in values.items() if value is not None}
    if len(set(places.values())) < len(places):
        raise DataError(f"{where}: two labels are the same number; write it one way: {', '.join(labels)}")
    ordered = sorted(places, key=lambda label: places[label])
    return tuple(ordered), tuple(places[label] for label in ordered)


def number_of(label: str) -> float | None:
    """Return the finite number that a label is; None if it is none."""
    try:
        value = float(label)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
