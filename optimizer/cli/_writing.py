"""Output: lines for a terminal, JSON on standard output, a file that the user has named, notices about waiting."""

from __future__ import annotations

import codecs
import contextlib
import json
import logging
import os
import sys
import textwrap
from itertools import chain
from typing import TYPE_CHECKING, Any

import typer
from psopt.cli._typer import is_quiet, is_silent
from psopt.errors import InputError
from psopt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

NOTICES = (logging.getLogger("psopt.waiting"), logging.getLogger("psopt.tracking"))
SCHEMA_VERSION = 1
"""The version of the output of `--json`: raised when a key changes its meaning, not when one is added."""
WIDTH = 80
"""Columns that every terminal has."""


def wrapped(sentences: Iterable[str], width: int = WIDTH, indent: str = "") -> list[str]:
    """Break sentences between words, so that no line is wider; continuation lines are indented by two more.

    >>> wrapped(["one two three"], width=8)
    ['one two', '  three']
    """
    wrapper = textwrap.TextWrapper(width, indent, f"{indent}  ", break_long_words=False, break_on_hyphens=False)
    return list(chain.from_iterable(map(wrapper.wrap, sentences)))


def tell(*lines: str) -> None:
    """Print lines besides the result, on standard error; nothing if --json or --quiet is given."""
    if not is_silent():
        for line in lines:
            typer.echo(line, err=True)


def note_lines(*notes: str) -> list[str]:
    """Return notes as lines; empty ones are left out."""
    return wrapped(f"Note: {note}" for note in notes if note)


def warn(*notes: str) -> None:
    """Print what a reader of the result has to know, on standard error, with --json too; nothing with --quiet."""
    if not is_quiet():
        for line in note_lines(*notes):
            typer.echo(line, err=True)


def as_json_text(data: Any, indent: int | None = 2) -> str:
    """JSON to print: with plain characters if standard output is UTF-8, as JSON requires, otherwise with escapes."""
    return json.dumps(data, indent=indent, ensure_ascii=not is_utf8())


def print_json(data: Any, indent: int | None = 2) -> None:
    """Print data as JSON: an object or an array of objects, each with the version of its schema."""
    versioned = [with_version(entry) for entry in data] if isinstance(data, list) else with_version(data)
    typer.echo(as_json_text(versioned, indent))


def print_result(data: Mapping[str, Any], text: str, *, as_json: bool) -> None:
    """Print a short result: as one line of JSON, or as text."""
    if as_json:
        print_json(data, indent=None)
    else:
        typer.echo(text)


def with_version(data: Mapping[str, Any]) -> dict[str, Any]:
    """Put the schema version first (`psopt schema`), if an object lacks it."""
    return {"schema_version": SCHEMA_VERSION, **data}


def is_utf8() -> bool:
    """Whether standard output accepts every character."""
    return codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"


def write_file(option: str, path: Path, text: str) -> None:
    """Write a text to the file that an option names, in UTF-8 with its own line ends; raises InputError.

    It is written completely or not at all, unless it is there and can't be replaced, such as a pipe.
    """
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    is_replaced = path.is_file() and os.access(path, os.W_OK) and os.access(target.parent, os.W_OK)
    if path.exists() and not is_replaced:
        part = path
    try:
        part.write_text(text, "utf-8", newline="\n")
        if part != path:
            part.replace(target)
    except OSError as error:
        if part != path:
            part.unlink(missing_ok=True)
        raise InputError(f"{option} {path} can't be written: {error.strerror}") from error


def check_writable(option: str, path: Path | None) -> None:
    """Raise InputError for a file that cannot be written, before its contents cost anything."""
    if path is None:
        return
    folder = path.absolute().parent
    if path.is_dir():
        raise InputError(f"{option} {path} is a folder; a file is expected")
    if not folder.is_dir():
        raise InputError(f"{option} {path} can't be written: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(f"{option} {path} can't be written: Permission denied")


class _OnStandardError(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        """Print it; rich puts it above its bar, which is also on standard error."""
        typer.echo(f"psopt: {one_line(record.getMessage())}", err=True)


@contextlib.contextmanager
def notices_on_standard_error() -> Iterator[None]:
    """Show the engine's notices while it waits, and which tracker has failed; then callers log as before."""
    handler = _OnStandardError()
    propagates = [logger.propagate for logger in NOTICES]
    for logger in NOTICES:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagated in zip(NOTICES, propagates, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagated
            logger.disabled = False
