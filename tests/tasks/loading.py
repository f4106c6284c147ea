"""Data files of every format, a task's samples, and what a process of its own tells of a task, as JSON data."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from psopt.errors import PsoptError
from psopt.tasks import Task, load_task


def write_records(path: Path, records: list[dict[str, Any]]) -> Path:
    """Write records in the format that the ending says."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerows([list(records[0]), *(record.values() for record in records)])
    return path


def samples_of(task: Task) -> list[Any]:
    """All samples of a task, by their ids."""
    return sorted((*task.train, *task.val, *task.test), key=lambda sample: sample.id)


def loaded(dataset: str, options: dict[str, Any]) -> dict[str, Any]:
    """A task's samples and where they come from; or the error that there was."""
    try:
        task = load_task(dataset, **options)
    except PsoptError as error:
        return {"error": str(error)}
    samples = {
        split: [(sample.id, str(sample.text), sample.label) for sample in getattr(task, split)]
        for split in ("train", "val", "test")
    }
    info = task.info
    facts = {"name": task.name, "source": info.source, "sha256": info.sha256, "revision": info.revision}
    return {**facts, "note": info.note, "labels": task.labels, **samples}
