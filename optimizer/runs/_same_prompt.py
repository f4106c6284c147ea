"""A run goes on with the prompt that it has begun with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.runs._directory import MANIFEST, RunDirectory
from psopt.runs._settings import RunSettings

if TYPE_CHECKING:
    from pathlib import Path


def check_same_prompt(run: Path, settings: RunSettings) -> None:
    """Refuse to go on with a run from another prompt than it has begun with: all of it is measured against that one.

    Raises InputError: naming both.
    """
    if not (run / MANIFEST).exists():
        return
    before = RunSettings.from_dict(RunDirectory.open(run).read_json(MANIFEST)["settings"])
    if (before.prompt and before.prompt.id) != (settings.prompt and settings.prompt.id):
        raise InputError(
            f"{run} has begun with {_named(before)}, and cannot be resumed from {_named(settings)}: start a new "
            f"run, or continue with the prompt that it keeps (psopt resume {run})"
        )


def _named(settings: RunSettings) -> str:
    """The user's own prompt by its file and id, that of a strategy by that."""
    if settings.prompt is None:
        return "the strategy's prompt"
    return f"prompt {settings.prompt_file or 'of Python'} ({settings.prompt.id})"
