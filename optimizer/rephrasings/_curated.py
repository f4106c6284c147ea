"""Rephrasings written for this project's built-in tasks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True, slots=True)
class Curated:
    """The rephrasings written for a task's original description; the original itself is in neither list."""

    original: str
    search: tuple[str, ...]
    heldout: tuple[str, ...]


def read_curated(task_name: str) -> Curated | None:
    """Return what is written for a built-in task, or None."""
    file = resources.files("psopt.rephrasings.builtin").joinpath(f"{task_name}.json")
    if not task_name.isidentifier() or not file.is_file():
        return None
    data = json.loads(file.read_text("utf-8"))
    return Curated(data["original"], tuple(data["search"]), tuple(data["heldout"]))
