"""What labels and samples of a task must be."""

from __future__ import annotations

import itertools
import unicodedata
from typing import TYPE_CHECKING

from psopt.errors import DataError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from psopt.tasks._data import Sample


def check_classes(
    where: str, labels: Sequence[str], definitions: Iterable[str], subclasses: Mapping[str, object]
) -> None:
    """Check the labels, and that definitions and subclasses are those of labels; `where` begins the messages.

    Raises DataError if there are fewer than two labels, one is empty, doubled, of several lines or holds a control
    character, or another name is no label.
    """
    _check_labels(where, labels)
    _check_named(where, "definitions", definitions, labels)
    _check_named(where, "subclasses", subclasses, labels)


def _check_labels(where: str, labels: Sequence[str]) -> None:
    if len(labels) < 2:
        only = f"only {labels[0]!r}" if labels else "none"
        raise DataError(f"{where}: a classification needs at least two labels, and this has {only}")
    for label in labels:
        if not label.strip():
            raise DataError(f"{where}: a label is empty; give it a name")
        if len(label.splitlines()) > 1:
            raise DataError(f"{where}: label {label!r} holds a line break; write it on one line")
        if any(sign != "\t" and unicodedata.category(sign) == "Cc" for sign in label):
            raise DataError(f"{where}: label {label!r} holds a control character, which terminals follow; remove it")
        if list(labels).count(label) > 1:
            raise DataError(f"{where}: label {label!r} stands twice; remove one")


def _check_named(where: str, table: str, named: Iterable[str], labels: Sequence[str]) -> None:
    for label in named:
        if label not in labels:
            hint = nearest(label, labels) or f"; the labels: {', '.join(labels)}"
            raise DataError(f"{where}: {table} name {label!r}, which is no label{hint}")


def check_positions(where: str, labels: Sequence[str], positions: Sequence[float]) -> None:
    """Raise DataError unless labels that are ordered have a place each, one above the other."""
    if not positions:
        return
    are_rising = all(low < high for low, high in itertools.pairwise(positions))
    if len(positions) != len(labels) or not are_rising:
        raise DataError(f"{where}: ordered labels need a position each, rising: {list(positions)} for {list(labels)}")


def check_samples(where: str, samples: Sequence[Sample], labels: Sequence[str] | None) -> None:
    """Raise DataError if a sample has a label that is none of `labels`, or the id of another sample."""
    allowed = None if labels is None else {None, *labels}
    ids = set()
    for sample in samples:
        if allowed is not None and sample.label not in allowed:
            raise DataError(f"{where}: sample {sample.id!r} has label {sample.label!r}, which is no label of the task")
        if sample.id in ids:
            raise DataError(f"{where}: id {sample.id!r} stands twice; ids must differ, from split to split too")
        ids.add(sample.id)
