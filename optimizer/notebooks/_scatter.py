"""A small scatter plot as SVG, drawn by hand: it needs no script, no network, and three kilobytes."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 520, 240, 56, 40, 12, 120
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
_MOST_TICKS = 6
_NEAR, _LINE = 100, 11  # pixels that a role's name takes


@dataclass(frozen=True, slots=True)
class Point:
    """A point: where it is, what is said of it when the mouse rests on it, how it looks, and the text beside it."""

    x: float
    y: float
    about: str
    color: str
    size: float = 5.0
    name: str = ""


def scatter(points: Sequence[Point], x_title: str, y_title: str) -> str:
    """Draw points; nothing where there are none."""
    if not points:
        return ""
    x_low, x_high = _range([point.x for point in points])
    y_low, y_high = _range([point.y for point in points])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low) * (_WIDTH - _LEFT - _RIGHT)
        up = (y - y_low) / (y_high - y_low) * (_HEIGHT - _TOP - _BOTTOM)
        return round(_LEFT + across, 1), round(_HEIGHT - _BOTTOM - up, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        'font-family="sans-serif" font-size="11" fill="currentColor" style="max-width:100%;height:auto">'
    ]
    for value in _ticks(x_low, x_high):
        x, y = place(value, y_low)
        parts.append(_rule(x, _TOP, x, y) + _text(x, y + 14, f"{value:g}", "middle"))
    for value in _ticks(y_low, y_high):
        x, y = place(x_low, value)
        parts.append(_rule(x, y, _WIDTH - _RIGHT, y) + _text(x - 6, y + 4, f"{value:g}", "end"))
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 6, x_title, "middle"))
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    parts.append(f'<g transform="rotate(-90 12 {middle})">{_text(12, middle, y_title, "middle")}</g>')
    taken: list[tuple[float, float]] = []
    for point in points:
        x, y = place(point.x, point.y)
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{point.size}" fill="{point.color}" fill-opacity=".85">'
            f"<title>{html.escape(point.about, quote=False)}</title></circle>"
        )
        if point.name:
            at = _free(x + point.size + 3, y + 4, taken)
            parts.append(_text(*at, point.name, "start"))
            taken.append(at)
    return "".join([*parts, "</svg>"])


def _free(x: float, y: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The next place below for a text where others begin near this one."""
    while any(abs(x - other_x) < _NEAR and abs(y - other_y) < _LINE for other_x, other_y in taken):
        y += 2
    return x, y


def _range(values: Sequence[float]) -> tuple[float, float]:
    """From the least to the greatest with some room, within [0, 1] as all measures are."""
    room = max(0.02, 0.1 * (max(values) - min(values)))
    return max(0.0, min(values) - room), min(1.0, max(values) + room)


def _ticks(low: float, high: float) -> list[float]:
    step = next((step for step in _STEPS if (high - low) / step <= _MOST_TICKS), _STEPS[-1])
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 6) for number in range(first, last + 1)]


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="currentColor" stroke-opacity=".15"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{html.escape(text, quote=False)}</text>'
