"""What the dashboard shows of a trial at a glance: F1 and S of every class, beside those of the seed prompt."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psopt.search._front import Candidate

_LABEL, _BAR, _GAP, _HIGH = 150, 230, 24, 9
_MEASURES = (("f1", "F1", "#2563eb"), ("sensitivity", "S", "#d97706"))
_GREY = "#9ca3af"


def class_plot(candidate: Candidate, baseline: Candidate) -> str:
    """Draw an SVG of two columns of bars; whatever comes from data is escaped.

    It is drawn by hand: a plotting library would need a browser, or tens of megabytes, for these bars in every trial.
    """
    rows = candidate.val.per_class
    width = _LABEL + len(_MEASURES) * (_BAR + 2 * _GAP)
    height = 44 + (2 * _HIGH + 12) * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        '<rect width="100%" height="100%" fill="#fff"/><g font-family="sans-serif" font-size="12" fill="#111">',
    ]
    for column, (_, name, color) in enumerate(_MEASURES):
        x = _LABEL + column * (_BAR + 2 * _GAP)
        parts.append(f'<text x="{x}" y="18">{name} <tspan fill="{color}">this prompt</tspan>')
        parts.append(f'<tspan fill="{_GREY}"> seed prompt</tspan></text>')
    for row, (label, scores) in enumerate(rows.items()):
        top = 34 + row * (2 * _HIGH + 12)
        parts.append(f'<text x="{_LABEL - 8}" y="{top + 13}" text-anchor="end">{html.escape(_short(label))}</text>')
        for column, (field, _, color) in enumerate(_MEASURES):
            x = _LABEL + column * (_BAR + 2 * _GAP)
            pair = ((getattr(scores, field), color), (getattr(baseline.val.per_class[label], field), _GREY))
            for line, (value, fill) in enumerate(pair):
                parts.append(_bar(x, top + line * _HIGH, value, fill))
    return "".join([*parts, "</g></svg>\n"])


def _bar(x: int, top: int, value: float | None, fill: str) -> str:
    if value is None:
        return f'<text x="{x}" y="{top + _HIGH - 1}" font-size="9">–</text>'
    long = _BAR * value
    return (
        f'<rect x="{x}" y="{top}" width="{long:.1f}" height="{_HIGH - 1}" fill="{fill}"/>'
        f'<text x="{x + long + 3:.1f}" y="{top + _HIGH - 1}" font-size="9">{value:.2f}</text>'
    )


def _short(label: str) -> str:
    return label if len(label) <= 20 else label[:19] + "…"
