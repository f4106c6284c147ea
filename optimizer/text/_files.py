"""Text files from users: read completely, or refused in one line that says what is wrong, where, and how to fix it."""

from __future__ import annotations

import codecs
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_WITH_BACKSLASH = re.compile(r'".*\\')


def read_text(path: Path, name: str = "", error: type[InputError] = InputError) -> str:
    """Read a UTF-8 file, with or without a byte order mark; raise `error` if it can't be read, or is not UTF-8.

    Messages call it by `name`, such as ``--config psopt.toml``; by default its path.
    """
    return as_text(read_bytes(path, name, error), name or str(path), error)


def read_bytes(path: Path, name: str = "", error: type[InputError] = InputError) -> bytes:
    """Read a whole file; see `read_text`."""
    name = name or str(path)
    try:
        return path.read_bytes()
    except FileNotFoundError as missing:
        raise error(f"{name} can't be read: no such file{nearest_sibling(path)}") from missing
    except OSError as refused:
        raise error(f"{name} can't be read: {refused.strerror}") from refused


def nearest_sibling(path: Path) -> str:
    """Return ``; did you mean 'x'?`` for the file beside a missing one whose name is nearest, or nothing."""
    if not path.parent.is_dir():
        return ""
    return nearest(path.name, [sibling.name for sibling in path.parent.iterdir()])


def as_text(data: bytes, name: str, error: type[InputError] = InputError) -> str:
    """Return UTF-8 bytes as text; see `read_text`."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise error(f"{name} is UTF-16; convert the file to UTF-8, for example with: iconv -f utf-16 -t utf-8")
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise error(f"{name}, line {line}: holds a NUL byte; remove it, or save the file as plain UTF-8 text")
    try:
        return data.decode()
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        fix = "convert the file, for example with: iconv -f cp1252 -t utf-8"
        raise error(f"{name}, line {line}: byte 0x{data[wrong.start]:02x} is not UTF-8; {fix}") from wrong


def read_json(path: Path, name: str = "", error: type[InputError] = InputError) -> Any:
    """Read a JSON file; see `read_text`."""
    return parse_json(read_text(path, name, error), name or str(path), error)


def parse_json(
    text: str,
    name: str,
    error: type[InputError] = InputError,
    object_hook: Callable[[dict[str, Any]], Any] | None = None,
) -> Any:
    """Return the data in a JSON text, with each object as the hook makes it; see `read_text`."""
    try:
        return json.loads(text, object_hook=object_hook)
    except json.JSONDecodeError as wrong:
        line = f"line {wrong.lineno}, " if "\n" in text else ""
        raise error(f"{name} is no valid JSON: {line}column {wrong.colno}: {wrong.msg}") from wrong
    except RecursionError as deep:
        raise error(f"{name} is no valid JSON: nested too deeply") from deep
    except ValueError as wrong:  # a number with more digits than Python converts
        raise error(f"{name} is no valid JSON: {wrong}") from wrong


def read_toml(path: Path, name: str = "", error: type[InputError] = InputError) -> dict[str, Any]:
    """Read a TOML file; see `read_text`."""
    text = read_text(path, name, error)
    name = name or str(path)
    try:
        return tomllib.loads(text)
    except RecursionError as deep:
        raise error(f"{name} is no valid TOML: nested too deeply") from deep
    except ValueError as wrong:
        raise error(f"{name} is no valid TOML: {wrong}{_backslash_hint(str(wrong), text)}") from wrong


def _backslash_hint(wrong: str, text: str) -> str:
    """How to write a Windows path, if the invalid line has a backslash in double quotes."""
    place = re.search(r"line (\d+)", wrong)
    if place and any(map(_WITH_BACKSLASH.search, text.splitlines()[int(place[1]) - 1 : int(place[1])])):
        return "; a path with backslashes stands in single quotes: 'C:\\data\\my.csv'"
    return ""
