"""A prompt's file as text, and whether it can be one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psopt.errors import InputError
from psopt.text import as_text, read_bytes

LARGEST = 256 * 1024
"""Bytes of a prompt's file. Chosen: some 60,000 tokens, paid again with every call; no prompt needs it by intent."""
BOM = "\ufeff"
_LARGEST_CONFIG = 2 * 1024 * 1024  # YAML with tests beside its prompts takes a second per 200 kB to read
_LARGEST_OF_OURS = 64 * 1024 * 1024  # psopt's own JSON holds examples and the file that a prompt came from
_IN_MEMORY = Path("in memory")
_NUMBERED = re.compile(r"(?P<path>.+\.(?:ya?ml|json))#(?P<number>[1-9]\d{0,3})", re.IGNORECASE)
_FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a prompt's file."""

    path: Path  # of a prompt among several without its number
    text: str  # without a byte order mark; line ends as they are
    has_bom: bool = False
    number: int | None = None  # which of the prompts of a configuration, from 1

    @property
    def suffix(self) -> str:
        """What the file's name ends in, in lower case."""
        return self.path.suffix.lower()

    @property
    def details(self) -> dict[str, Any]:
        """What an `Origin` keeps of it."""
        return {"source": self.text, "bom": self.has_bom}


class PromptText(str):
    """A prompt's text itself, in place of a file that holds it; messages are said of it by where it stands."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        """Name it as messages do."""
        return format(str(_IN_MEMORY), spec)


def is_function(source: str | Path) -> bool:
    """Tell whether a source is ``MODULE:NAME`` and not a file."""
    return isinstance(source, str) and _FUNCTION.fullmatch(source) is not None and not Path(source).exists()


def read_source_text(source: str | Path) -> Source:
    """Read a prompt's file, or a `PromptText`.

    Raises InputError if it can't be read, is too large, no text, or empty.
    """
    if isinstance(source, PromptText):
        return Source(_IN_MEMORY, str(source))
    path, number = numbered(source)
    largest = {".json": _LARGEST_OF_OURS, ".yaml": _LARGEST_CONFIG, ".yml": _LARGEST_CONFIG}
    largest_here = largest.get(path.suffix.lower(), LARGEST)
    if path.is_file() and path.stat().st_size > largest_here:
        raise _too_large(path, path.stat().st_size, largest_here)
    data = read_bytes(path, f"prompt {path}")
    text = as_text(data, f"prompt {path}")
    if not text.strip():
        raise InputError(f"prompt {path} is empty")
    return Source(path, text, data.startswith(BOM.encode()), number)


def numbered(source: str | Path) -> tuple[Path, int | None]:
    """Part ``promptfooconfig.yaml#2`` into the file, and which of its prompts is meant.

    >>> numbered("promptfooconfig.yaml#2")[1], numbered("prompt.txt")[1]
    (2, None)
    """
    path = Path(source)
    found = _NUMBERED.fullmatch(str(source))
    return (path, None) if found is None or path.exists() else (Path(found["path"]), int(found["number"]))


def check_size(source: Source) -> None:
    """Refuse a template that is too large; psopt's own JSON may be larger.

    Raises InputError if it is.
    """
    size = len(source.text.encode())
    if size > LARGEST:
        raise _too_large(source.path, size)


def _too_large(path: Path, size: int, largest: int = LARGEST) -> InputError:
    return InputError(f"prompt {path} is too large: {size:,} bytes, and a prompt has {largest:,} at most")
