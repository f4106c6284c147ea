"""What ends a command, as one line: what the system refused, or a bug of psopt, with its traceback in a file."""

from __future__ import annotations

import errno
import os
import tempfile
import traceback
from pathlib import Path

EX_SOFTWARE = 70  # the exit code of sysexits.h for an error in the program itself


def failure(error: Exception) -> tuple[str, int]:
    """Return the line that says what happened, and the exit code."""
    notes = getattr(error, "__notes__", [])
    if isinstance(error, OSError) and error.errno is not None:
        if error.errno in {errno.EMFILE, errno.ENFILE}:
            cure = "too many files are open: raise `ulimit -n`, or give a lower --concurrency"
            return "; ".join([cure, *notes]), 2
        where = f"{error.filename}: " if error.filename is not None else ""
        return "; ".join([f"{where}{error.strerror or os.strerror(error.errno)}", *notes]), 2
    if isinstance(error, MemoryError):
        return "; ".join(["the memory is full: fewer --samples or a lower --concurrency need less", *notes]), 2
    if not any(note.startswith("the traceback is in ") for note in notes):
        notes = [*notes, _kept(error)]
    bug = f"{type(error).__name__}{f': {error}' if str(error) else ''}"
    return "; ".join([f"this is a bug of psopt, please report it: {bug} ({_place(error)})", *notes]), EX_SOFTWARE


def _place(error: Exception) -> str:
    """File and line where it happened, in psopt where psopt has called something that failed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}psopt{os.sep}" in frame.filename] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "no traceback"


def _kept(error: Exception) -> str:
    """Write the traceback to a file of its own, and say where it is."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="psopt-error-", suffix=".log", encoding="utf-8", errors="backslashreplace", delete=False
        ) as file:
            file.writelines(traceback.format_exception(error))
    except OSError as refused:
        return f"its traceback can't be written: {refused.strerror}"
    return f"the traceback is in {file.name}"
