"""Small HTML for a notebook's cells, without scripts and with every text from data escaped.

Colours are the notebook's own, so that light and dark themes are equally readable; without styles, as in a notebook
that is not trusted, tables are still tables.
"""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Value = str | float | None

LONGEST = 160  # characters of a text in a cell: two lines
_ROW = "border:0;border-bottom:1px solid rgba(128,128,128,.35);vertical-align:top"
_START = f'<tr style="{_ROW}">'
_PRE = (
    "white-space:pre-wrap;word-break:normal;margin:2px 0 8px 0;padding:6px 8px;"
    "border-left:3px solid rgba(128,128,128,.5)"
)


def card(title: str, *parts: str) -> str:
    """Put parts that are already HTML under a title, which is text; empty parts are left out."""
    heading = f'<p style="margin:2px 0"><b>{escaped(title)}</b></p>'
    return f'<div style="max-width:72em;overflow-x:auto">{heading}{"".join(parts)}</div>'


def line(text: str) -> str:
    """A paragraph; nothing for an empty text."""
    return text and f'<p style="margin:2px 0 6px 0">{escaped(text)}</p>'


def table(head: Sequence[str], rows: Iterable[Sequence[Value]], *, digits: int = 3) -> str:
    """A table: texts left-aligned and shortened, numbers right-aligned with so many digits; None is a dash.

    >>> "<td" in table(["label", "n"], [["<b>", 3]]), "&lt;b&gt;" in table(["label", "n"], [["<b>", 3]])
    (True, True)
    """
    listed = [list(row) for row in rows]
    sides = ["right"] * len(head)
    for row in listed:
        sides = ["left" if isinstance(value, str) else side for value, side in zip(row, sides, strict=True)]
    body = "".join(_row("td", row, sides, digits) for row in listed)
    return (
        '<table cellpadding="4" style="border-collapse:collapse;font-variant-numeric:tabular-nums;margin:4px 0">'
        f"<thead>{_row('th', head, sides)}</thead><tbody>{body}</tbody></table>"
    )


def folded(title: str, *parts: str) -> str:
    """Parts that are already HTML, to be unfolded; nothing where there are none."""
    inner = "".join(parts)
    return inner and f"<details><summary>{escaped(title)}</summary>{inner}</details>"


def preformatted(text: str) -> str:
    """A text unchanged, with its line breaks."""
    return f'<pre style="{_PRE}">{html.escape(text, quote=False)}</pre>'


def escaped(text: str) -> str:
    """A text on one line that is never mark-up, whatever it holds."""
    return html.escape(" ".join(text.split()), quote=False)


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text on one line, cut with an ellipsis.

    >>> shortened("one two three", 8)
    'one two…'
    """
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= longest else one_line[: longest - 1].rstrip() + "…"


def shown_number(value: float | None, digits: int = 3) -> str:
    """A number as tables show it: whole numbers unchanged, others with so many digits, and a dash for none.

    >>> shown_number(3), shown_number(0.12345), shown_number(None), shown_number(float("nan"))
    ('3', '0.123', '–', '–')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"


def with_interval(value: float | None, interval: tuple[float, float] | None) -> str:
    """A number with its interval, where there is one.

    >>> with_interval(0.5, (0.25, 0.75)), with_interval(0.5, None)
    ('0.500 (0.250 to 0.750)', '0.500')
    """
    if not interval or value is None:
        return shown_number(value)
    low, high = interval
    return f"{shown_number(value)} ({shown_number(low)} to {shown_number(high)})"


def _row(tag: str, values: Iterable[Value], sides: Iterable[str], digits: int = 3) -> str:
    cells = []
    for value, side in zip(values, sides, strict=True):
        shown = escaped(shortened(value)) if isinstance(value, str) else shown_number(value, digits)
        cells.append(f'<{tag} style="text-align:{side}">{shown}</{tag}>')
    return f"{_START}{''.join(cells)}</tr>"
