"""The prompts that a run's commands choose from: its front, and the short prompt beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    Entries = list[dict[str, Any]]

_LEAST_OF_AN_ID = 4


def read_entries(run: Path) -> Entries:
    """Read front.json's prompts; the short one comes last and has ``short`` set.

    Raises
    ------
    InputError
        If the run has no front yet.
    """
    from psopt.runs import FRONT, RunDirectory

    directory = RunDirectory.open(run)
    if not (directory.path / FRONT).exists():
        raise InputError(f"{run} has no front yet: go on with `psopt resume {run}`")
    found = directory.read_json(FRONT)
    return [*found["prompts"], *([{**found["short"], "short": True}] if found.get("short") else [])]


def find_entry(entries: Entries, which: str) -> dict[str, Any]:
    """Find the prompt that is meant: ``knee``, ``short``, the best of a measure, an id, or a wish."""
    from psopt.runs import pick_entry
    from psopt.search import is_wish

    front = [entry for entry in entries if not entry.get("short")]
    short = next((entry for entry in entries if entry.get("short")), None)
    if is_wish(which):
        return dict(pick_entry(entries, which))
    if which == "short":
        return short or dict(pick_entry(front, "knee"))
    if short and len(which) >= _LEAST_OF_AN_ID and short["id"].startswith(which):
        return short
    return dict(pick_entry(front, which))
