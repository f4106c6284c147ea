"""What a run of a program was about: a log_dir is resumed only where all of it is the same."""

from __future__ import annotations

import itertools
import json
import shutil
from typing import TYPE_CHECKING, Any

from psopt._version import __version__
from psopt.dspy_programs._contents import digest
from psopt.dspy_programs._dspy import dspy
from psopt.dspy_programs._fingerprint import as_json_data
from psopt.runs import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

IDENTITY = "program.json"
"""The file of a run directory that says what the program was."""
_ANSWERS = ("answers.db", "answers.db-wal", "answers.db-shm")  # their keys hold all that decides them


def identity(program: Any, facts: Mapping[str, Any]) -> dict[str, str]:
    """What decides a run's figures, each as a digest or in words; `facts` are what is told beside the program."""
    return {
        "the program's code and attributes": digest(program),
        "its instructions, fields and demonstrations": digest(as_json_data(program.dump_state())),
        "psopt's version": __version__,
        "DSPy's version": dspy.__version__,
        **{name: str(value) for name, value in facts.items()},
    }


def make_room(folder: Path, now: Mapping[str, str]) -> str:
    """Put a run that was about something else aside; answers that still hold are kept. Say what has changed.

    Returns
    -------
    said : str
        Empty where there is no run, or the same one.
    """
    if not (folder / MANIFEST).exists():
        return ""
    try:
        before = json.loads((folder / IDENTITY).read_text("utf-8"))
    except (OSError, ValueError):
        before = {}
    changed = [name for name, value in now.items() if before.get(name) != value]
    if not changed:
        return ""
    target = next(aside for aside in _asides(folder) if not aside.exists())
    target.mkdir()
    found = (file for file in folder.iterdir() if file.name not in _ANSWERS)
    moved = sorted(found, key=lambda file: file.name == MANIFEST)
    for file in moved:  # run.json last: until then the folder is that run's
        shutil.move(file, target / file.name)
    what = ", ".join(changed) if before else "what the program was"
    return f"{folder} was of a run that differs in {what}: it is evaluated anew, and the earlier run is in {target}"


def write_identity(folder: Path, now: Mapping[str, str]) -> None:
    """Write down what a run is about."""
    (folder / IDENTITY).write_text(json.dumps(now, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _asides(folder: Path) -> Iterator[Path]:
    """Where runs are put aside: folders beside it, numbered."""
    return (folder.with_name(f"{folder.name}-earlier-{number}") for number in itertools.count(1))
