"""Texts and small tables as Markdown or LaTeX: texts of others may read like markup, and are to show as they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SIGNS = "\\`*_[]<&|#~"  # what begins markup, HTML or an entity within a line, or ends a table's cell


def escaped_markdown(text: str) -> str:
    r"""Return a text that shows as it is within a line or a cell of Markdown, its white space folded.

    By backslashes and not by entities: they stand where CommonMark reads them, and read well where nothing does.

    >>> print(escaped_markdown("don't <b>shout</b> | #1"))
    don't \<b>shout\</b> \| \#1
    """
    return "".join(f"\\{sign}" if sign in _SIGNS else sign for sign in " ".join(text.split()))


def fenced(text: str, language: str = "text") -> str:
    """Return a text in a code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def markdown_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Rows of the same columns as Markdown.

    >>> print(markdown_table([{"prompt": "a|b", "S": "5.9"}]))
    | prompt | S |
    | --- | --- |
    | a&#124;b | 5.9 |
    """
    lines = [[*rows[0]], ["---"] * len(rows[0]), *([*row.values()] for row in rows)]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


def latex_table(rows: Sequence[Mapping[str, str]]) -> str:
    r"""Rows of the same columns as a `tabular` with booktabs' rules; the first two columns hold words.

    >>> print(latex_table([{"prompt": "a_b", "S": "40 (30–50)"}]).splitlines()[4])
    a\_b & 40 (30--50) \\
    """
    cells = [[*rows[0]], *([*row.values()] for row in rows)]
    head, *body = [f"{' & '.join(map(_escaped, line))} \\\\" for line in cells]
    columns = "ll" + "r" * (len(rows[0]) - 2)
    lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule", head, "\\midrule", *body, "\\bottomrule"]
    return "\n".join([*lines, "\\end{tabular}"])


def _escaped(text: str) -> str:
    """A text as LaTeX has it."""
    return re.sub(r"([_%&#$])", r"\\\1", text).replace("–", "--")
