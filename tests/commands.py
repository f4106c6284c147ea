"""psopt's command line in this process: a new one takes two seconds to begin, and the tests give hundreds of commands.

What is about the process itself stays in one of its own: signals, kills, workers, terminals, locales, what is printed
by others' code, and that the same command gives the same front where Python's hashes are seeded anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from psopt.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def run_command(*words: Any, cwd: Path, env: Mapping[str, str], texts: str = "") -> subprocess.CompletedProcess[str]:
    """Run `psopt` with these words, as `subprocess.run` would: in a folder, with texts on standard input."""
    command = ["psopt", *map(str, words)]
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for name in ("stdout", "stderr")}
    with pytest.MonkeyPatch.context() as patch, _environment(env):
        patch.chdir(cwd)
        patch.setattr(sys, "argv", command)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(texts.encode()), "utf-8"))
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        patch.setattr("psopt.cli._main.leave", sys.exit)  # it ends a process that has threads left, as this one has
        with pytest.raises(SystemExit) as ended:
            main(command[1:])
    out, err = (stream.buffer.getvalue().decode("utf-8") for stream in streams.values())
    code = ended.value.code
    assert isinstance(code, int)
    return subprocess.CompletedProcess(command, code, out, err)


@contextlib.contextmanager
def _environment(env: Mapping[str, str]) -> Iterator[None]:
    before, given = dict(os.environ), dict(env)  # which may be os.environ itself
    os.environ.clear()
    os.environ.update(given)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
