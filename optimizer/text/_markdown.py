"""Texts of others within Markdown: they may read like Markdown or HTML, and are to show as they are."""

from __future__ import annotations

import re

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
