"""What a process of its own tells of a task, as JSON data."""

from __future__ import annotations

from typing import Any

from psopt.errors import PsoptError
from psopt.tasks import load_task


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
