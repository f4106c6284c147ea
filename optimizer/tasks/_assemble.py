"""From split samples and the words that describe them to a task."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from psopt.errors import DataError, nearest
from psopt.tasks._task import DatasetInfo, Task, check_known, check_labels

if TYPE_CHECKING:
    from psopt.tasks._splits import Splits
    from psopt.tasks._task import Source
    from psopt.tasks._taskfile import TaskFile


def assemble(name: str, described: TaskFile, splits: Splits, *, source: Source, note: str = "") -> Task:
    """Put a task together.

    Without a description it is ``Classify the <noun> into one of the given classes.``; without labels those
    of the samples are taken in alphabetical order.

    Raises
    ------
    DataError
        If the samples and what describes them don't go together.
    """
    noun = described.noun or "text"
    return Task(
        name=name,
        description=described.description or f"Classify the {noun} into one of the given classes.",
        labels=_labels(described, splits),
        train=splits.train,
        val=splits.val,
        test=splits.test,
        info=DatasetInfo(name, source, _digest(splits), note),
        definitions=described.definitions,
        subclasses=described.subclasses,
        noun=noun,
    )


def _labels(described: TaskFile, splits: Splits) -> tuple[str, ...]:
    found = sorted({sample.label for split in splits for sample in split if sample.label is not None})
    labels = described.labels or tuple(found)
    if not labels:
        raise DataError('the data have no labels; name them in a task file (--task-file): labels = ["..", ".."]')
    check_labels(described.origin, labels)
    for label in found:
        if label not in labels:
            hint = nearest(label, labels) or f": {', '.join(labels)}"
            raise DataError(f"{described.origin}: the data's label {label!r} is not among its labels{hint}")
    check_known(described.origin, "definitions", described.definitions, labels)
    check_known(described.origin, "subclasses", described.subclasses, labels)
    return labels


def _digest(splits: Splits) -> str:
    """Digest the samples as used: split, id, text, label, subclass."""
    rows = [
        [split, sample.id, sample.text, sample.label, sample.subclass]
        for split, samples in zip(splits._fields, splits, strict=True)
        for sample in samples
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def left_out(n_given: int, splits: Splits) -> str:
    """Say in one line how many samples the splits leave out, or nothing."""
    n = n_given - sum(len(split) for split in splits)
    if not n:
        return ""
    return f"{n:,} of {n_given:,} samples are left out: their texts stand more than once, or in another split"
