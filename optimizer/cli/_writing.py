"""Writing a file that the user has named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def write_file(option: str, path: Path, text: str) -> None:
    """Write a text to the file that an option names.

    Raises
    ------
    InputError
        If it can't be written.
    """
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InputError(f"{option} {path} can't be written: {error.strerror}") from error
