"""Words of commands that people copy into the shell that they have."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


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
