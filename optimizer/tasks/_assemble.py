"""From split samples and the words that describe them to the fields of a task."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, TypedDict

from psopt.errors import DataError, nearest
from psopt.tasks._checks import check_classes
from psopt.tasks._data import DatasetInfo
from psopt.tasks._label_hints import scale_hint, several_hint
from psopt.tasks._ordered import ORDINAL, in_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.tasks._data import Sample, Source
    from psopt.tasks._splits import Splits
    from psopt.tasks._taskfile import TaskFile


class TaskFields(TypedDict):
    """What `Task` is made of: loaders return this, so that they stand below the class whose methods call them."""

    name: str
    description: str
    labels: tuple[str, ...]
    train: tuple[Sample, ...]
    val: tuple[Sample, ...]
    test: tuple[Sample, ...]
    info: DatasetInfo
    definitions: Mapping[str, str]
    subclasses: Mapping[str, Mapping[str, str]]
    noun: str
    label_column: str
    positions: tuple[float, ...]


def assemble(
    name: str,
    described: TaskFile,
    splits: Splits,
    *,
    source: Source,
    note: str = "",
    label_column: str = "",
    test_is_drawn: bool = False,
) -> TaskFields:
    """Put the fields of a task together.

    Without a description it is ``Classify the <noun> into one of the given classes.``; without labels those
    of the samples are taken in alphabetical order.

    Raises
    ------
    DataError
        If the samples and what describes them don't go together.
    """
    noun = described.noun or "text"
    notes = [note]
    labels = _labels(described, splits)
    positions: tuple[float, ...] = ()
    if described.answers == ORDINAL:
        labels, positions = in_order(described.origin, labels, described.order)
    elif described.answers is None:
        notes += [scale_hint(labels), several_hint(labels)]
    return TaskFields(
        name=name,
        description=described.description or f"Classify the {noun} into one of the given classes.",
        labels=labels,
        train=splits.train,
        val=splits.val,
        test=splits.test,
        info=DatasetInfo(name, source, _digest(splits), "; ".join(filter(None, notes)), test_is_drawn),
        definitions=described.definitions,
        subclasses=described.subclasses,
        noun=noun,
        label_column=label_column,
        positions=positions,
    )


def _labels(described: TaskFile, splits: Splits) -> tuple[str, ...]:
    in_data = sorted({sample.label for split in splits for sample in split if sample.label is not None})
    labels = described.labels or tuple(in_data)
    if not labels:
        raise DataError('the data have no labels; name them in a task file (--task-file): labels = ["..", ".."]')
    check_classes(described.origin, labels, described.definitions, described.subclasses)
    for label in in_data:
        if label not in labels:
            hint = nearest(label, labels) or f": {', '.join(labels)}"
            raise DataError(f"{described.origin}: the data's label {label!r} is not among its labels{hint}")
    return labels


def _digest(splits: Splits) -> str:
    """Digest the samples as used: split, id, text, label, subclass."""
    rows = [
        [split, sample.id, sample.text, sample.label, sample.subclass]
        for split, samples in zip(splits._fields, splits, strict=True)
        for sample in samples
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def left_out(n_samples: int, splits: Splits) -> str:
    """Say in one line how many of the `n_samples` in the data the splits leave out, or nothing."""
    n = n_samples - sum(len(split) for split in splits)
    if not n:
        return ""
    return f"{n:,} of {n_samples:,} samples are left out: their texts stand more than once, or in another split"
