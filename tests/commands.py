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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from psopt.cli import main


def run_command(
    *words: Any,
    cwd: Path,
    env: Mapping[str, str],
    texts: str = "",
    code: int | None = None,
    encoding: str = "utf-8",
) -> subprocess.CompletedProcess[str]:
    """Run `psopt` with these words, as `subprocess.run` would: in a folder, with texts on standard input.

    Where an exit code is given, that is how it must end. The streams are in the encoding.
    """
    command = ["psopt", *map(str, words)]
    kinds = {"stdout": "strict", "stderr": "backslashreplace"}
    streams = {name: io.TextIOWrapper(io.BytesIO(), encoding, kind, write_through=True) for name, kind in kinds.items()}
    with pytest.MonkeyPatch.context() as patch, _environment(env):
        patch.chdir(cwd)
        patch.setattr(sys, "argv", command)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(texts.encode()), "utf-8"))
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        patch.setattr("psopt.cli._main.leave", sys.exit)  # it ends a process that has threads left, as this one has
        with pytest.raises(SystemExit) as ended:
            main(command[1:])
    written = "utf-8" if encoding == "ascii" else encoding  # Typer takes ASCII for a mistake of the system's
    out, err = (stream.buffer.getvalue().decode(written) for stream in streams.values())
    ending = ended.value.code
    assert isinstance(ending, int)
    assert code in {None, ending}, err
    return subprocess.CompletedProcess(command, ending, out, err)


def psopt(
    folder: Path, *words: Any, code: int | None = None, texts: str = "", columns: int = 80, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with a cache in it and `more` in the environment."""
    return run_command(*words, cwd=folder, env=environment(folder, columns, **more), texts=texts, code=code)


def environment(folder: Path, columns: int = 80, **more: str) -> dict[str, str]:
    """What a command is told in a folder: a cache of its own, and how wide the screen is."""
    return {**os.environ, "PSOPT_CACHE_DIR": str(folder / "cache"), "COLUMNS": str(columns), **more}


def exit_code(*words: Any) -> int:
    """Run a command as this process is, whose output `capsys` has, and return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    assert isinstance(ended.value.code, int)
    return ended.value.code


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
