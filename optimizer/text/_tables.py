"""Small tables to copy: into a README, or into a paper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
