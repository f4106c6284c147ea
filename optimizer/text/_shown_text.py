"""Texts in the form in which they are shown: on one line, as Markdown or LaTeX, and what changed between two of them.

Texts by others may look like markup, and must be shown literally.
"""

from __future__ import annotations

import difflib
import io
import os
import re
import shlex
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_SIGN = re.compile(r"[\\`*_\[\]<&|#~]")  # begins markup, HTML or an entity within a line, or ends a table cell

_WORDS_OF_LATEX = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum", "|": "bar", "<": "less", ">": "greater"}
_IN_LATEX = {sign: f"\\text{word}{{}}" for sign, word in _WORDS_OF_LATEX.items()}
_IN_LATEX |= {"–": "--"} | {sign: f"\\{sign}" for sign in "_%&#${}"}


def one_line(text: str) -> str:
    r"""Return a text without control characters and half surrogate pairs, with single spaces for all white space.

    >>> one_line("no\n\x1b[31m way\x9b0m \ud800")
    'no [31m way 0m'
    """
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


def shortened_list(items: Sequence[str], most: int) -> str:
    """Return at most so many items on one line, and how many more there are.

    >>> shortened_list(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    line = ", ".join(items[:most])
    return f"{line} and {len(items) - most:,} more" if len(items) > most else line


def counted(n: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "edit"), counted(2000, "edit")
    ('1 edit', '2,000 edits')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def percent(share: float | None) -> str:
    """Return a share in percent; a dash for None.

    >>> percent(0.1234), percent(None)
    ('12.3', '–')
    """
    return "–" if share is None else f"{100 * share:.1f}"


def shell_line(words: Iterable[object], system: str = os.name) -> str:
    r"""Return words as one shell line: for POSIX, or for Windows, where backslashes separate folders.

    >>> print(shell_line(["psopt", "resume", "my run"], "posix"))
    psopt resume 'my run'
    >>> print(shell_line(["psopt", "resume", "runs\\my run"], "nt"))
    psopt resume "runs\my run"
    >>> print(shell_line(["psopt", "resume", "runs\\mine"], "nt"))
    psopt resume runs\mine
    """
    texts = [str(word) for word in words]
    return subprocess.list2cmdline(texts) if system == "nt" else shlex.join(texts)


def escaped_markdown(text: str) -> str:
    r"""Return a text that Markdown shows literally within a line or a cell, with its white space collapsed.

    >>> print(escaped_markdown("don't <b>shout</b> | #1"))
    don't \<b>shout\</b> \| \#1
    """
    return _SIGN.sub(r"\\\g<0>", " ".join(text.split()))


def fenced(text: str, language: str = "text") -> str:
    """Return a text in a code block whose fence is longer than any run of backticks in it."""
    longest = max(map(len, re.findall("`+", text)), default=2)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def markdown_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Return rows with the same columns as a Markdown table.

    >>> print(markdown_table([{"prompt": "a|b", "S": "5.9"}]))
    | prompt | S |
    | --- | --- |
    | a&#124;b | 5.9 |
    """
    lines: list[Iterable[str]] = [rows[0], ["---"] * len(rows[0]), *(row.values() for row in rows)]
    return "\n".join("".join(f"| {cell.replace('|', '&#124;')} " for cell in line) + "|" for line in lines)


def latex_table(rows: Sequence[Mapping[str, str]]) -> str:
    r"""Return rows with the same columns as a `tabular` with booktabs rules; the first two columns hold words.

    >>> print(latex_table([{"prompt": r"mine~1\a_b", "S": "40 (30–50)"}]).splitlines()[4])
    mine\textasciitilde{}1\textbackslash{}a\_b & 40 (30--50) \\
    """
    signs = str.maketrans(_IN_LATEX)
    cells = [[*rows[0]], *([*row.values()] for row in rows)]
    head, *body = [f"{' & '.join(cell.translate(signs) for cell in line)} \\\\" for line in cells]
    columns = "ll" + "r" * (len(rows[0]) - 2)
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", head, "\\midrule", *body, "\\bottomrule"]
    return "\n".join([*lines, "\\end{tabular}"])


def line_changes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    """Return the changes that turn old lines into new ones, in the form of `difflib`.

    >>> line_changes(["a", "b"], ["a", "x", "b"])
    [('equal', 0, 1, 0, 1), ('insert', 1, 1, 1, 2), ('equal', 1, 2, 2, 3)]
    """
    return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def unified_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    r"""Return what changed as a unified diff, for patch and git apply; empty if nothing did.

    >>> print(unified_diff("Sort it.\n", "Sort it.\nNote: now.\n", "prompt.txt", "1a2b"), end="")
    --- prompt.txt
    +++ 1a2b
    @@ -1 +1,2 @@
     Sort it.
    +Note: now.
    """
    old_lines, new_lines = (io.StringIO(text).readlines() for text in (old, new))  # there, only line feeds end lines
    diff = difflib.unified_diff(old_lines, new_lines, old_name, new_name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff)
