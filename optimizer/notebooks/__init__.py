"""What notebooks show: small HTML without scripts, and rows as DataFrames."""

from psopt.notebooks._frame import data_frame
from psopt.notebooks._html import (
    card,
    escaped,
    folded,
    line,
    preformatted,
    shortened,
    shown_number,
    table,
    with_interval,
)
from psopt.notebooks._scatter import Point, scatter

__all__ = [
    "Point",
    "card",
    "data_frame",
    "escaped",
    "folded",
    "line",
    "preformatted",
    "scatter",
    "shortened",
    "shown_number",
    "table",
    "with_interval",
]
