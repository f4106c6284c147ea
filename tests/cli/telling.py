"""What a command says, for a process that runs one after the other."""

from __future__ import annotations

import os
from pathlib import Path

from tests.commands import run_command


def told(words: list[str], folder: str) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of a command."""
    done = run_command(*words, cwd=Path(folder), env=os.environ)
    return done.returncode, done.stdout, done.stderr
