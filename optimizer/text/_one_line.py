"""Texts on one line: for a terminal that only shows them, and commands for the shell that people have."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def one_line(text: str) -> str:
    r"""Return a text without control characters and half surrogate pairs, all white space as one blank.

    >>> one_line("no\n\x1b[31m way\x9b0m \ud800")
    'no [31m way 0m'
    """
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def shell_line(words: Iterable[object], system: str = os.name) -> str:
    r"""Return words as one line of a shell: of POSIX, or of Windows, where backslashes part folders.

    >>> print(shell_line(["psopt", "resume", "my run"], "posix"))
    psopt resume 'my run'
    >>> print(shell_line(["psopt", "resume", "runs\\my run"], "nt"))
    psopt resume "runs\my run"
    >>> print(shell_line(["psopt", "resume", "runs\\mine"], "nt"))
    psopt resume runs\mine
    """
    texts = [str(word) for word in words]
    return subprocess.list2cmdline(texts) if system == "nt" else shlex.join(texts)
