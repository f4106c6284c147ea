"""The prompt of a run that a command is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read_entry(run: Path, which: str) -> Mapping[str, Any]:
    """Read one of front.json's prompts: ``knee``, ``short``, the best of a measure, an id, or a wish.

    The entry says how it was ``measured``, also in a run of psopt 0.1.

    Raises
    ------
    InputError
        If the run has no front yet, or no such prompt.
    """
    from psopt.runs import FRONT, MANIFEST, RunDirectory, measured_in, pick_entry

    directory = RunDirectory.open(run)
    if not (directory.path / FRONT).exists():
        raise InputError(f"{run} has no front yet: go on with `psopt resume {run}`")
    front = directory.read_json(FRONT)
    entry = pick_entry(front["prompts"], which, front.get("short"))
    if "measured" in entry:
        return entry
    return {**entry, "measured": measured_in(directory.read_json(MANIFEST), entry["id"]).to_dict()}
