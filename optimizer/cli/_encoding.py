"""Standard output and error in an encoding that lacks some characters, such as ASCII or cp1252."""

from __future__ import annotations

import codecs
import sys
import unicodedata

_PLAIN = "psopt.plain"
_SIGNS = {
    "–": "-",
    "—": "-",
    "−": "-",
    "·": "-",
    "•": "*",
    "…": "...",
    "°": "o",
    "×": "x",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    "±": "+-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "\N{NO-BREAK SPACE}": " ",
}


def write_what_can_be_shown() -> None:
    """Let both streams write the nearest characters that they have in place of those that they lack."""
    codecs.register_error(_PLAIN, _nearest)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # not so where a test or a notebook has put something else there
            stream.reconfigure(errors=_PLAIN)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks: a sign by its like in ASCII, a letter by its base, all else by ``?``."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    base = "".join(part for part in unicodedata.normalize("NFKD", character) if part.isascii())
    return base or ("" if unicodedata.combining(character) else "?")
