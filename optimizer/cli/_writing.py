"""Writing what others read: JSON on standard output, a file that the user has named."""

from __future__ import annotations

import codecs
import json
import sys
from typing import TYPE_CHECKING, Any

import typer
from psopt.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def as_json_text(data: Any, indent: int | None = 2) -> str:
    """JSON to print: in characters where standard output is UTF-8, as all JSON must be, else with escapes."""
    return json.dumps(data, indent=indent, ensure_ascii=not is_utf8())


def print_json(data: Any, indent: int | None = 2) -> None:
    """Print data as JSON."""
    typer.echo(as_json_text(data, indent))


def is_utf8() -> bool:
    """Whether standard output takes every character."""
    return codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"


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
