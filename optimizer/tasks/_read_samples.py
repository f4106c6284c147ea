"""Further samples of a task, from a file of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import DataError
from psopt.tasks._columns import ColumnChoice, as_names, listed
from psopt.tasks._files import read_rows
from psopt.tasks._samples import make_samples

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.tasks._data import Sample
    from psopt.tasks._task import Task


def read_samples(
    path: Path,
    task: Task,
    *,
    inputs: str | Sequence[str] = (),
    text_column: str | None = None,
    label_column: str | None = None,
) -> tuple[Sample, ...]:
    """Read samples of a task from a .csv, .tsv, .jsonl or .parquet file, all with labels or all without.

    Raises DataError if the file can't be read, or a label is none of the task's.
    """
    rows = read_rows(path)
    has_labels = label_column is None or any(label_column in row.values for row in rows)
    choice = ColumnChoice(as_names(inputs), label_column if has_labels else None, text_column)
    table = make_samples(str(path), rows, choice, require_labels=False, spec=task.spec)
    samples = tuple(placed.sample for placed in table.placed)
    for sample in samples:
        if sample.label is not None and not task.spec.is_open and sample.label not in task.labels:
            raise DataError(
                f"{path}, sample {sample.id}: {sample.label!r} is none of the task's labels: {listed(task.labels)}"
            )
    return samples
