"""Shared parts of figures: colours for light, dark and paper, texts shown literally, a limit on points."""

from __future__ import annotations

import functools
import html
import textwrap
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.notebooks import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import plotly.graph_objects as go
    from psopt.evaluation import Predictions

COLORS = ("#8b93a1", "#1a9c5f", "#2f6fde", "#d97706", "#7c3aed", "#be185d")
"""Of the prompts, the original prompt first."""
SCALE = "Viridis"
IN_PERCENT = ".3~p"
"""The format of ticks: as many digits as tell neighbours apart."""
CLASSES = {"type": "category", "automargin": True}
"""Of an axis of labels: left alone, plotly takes "3" for a number, and cuts long ones."""
_LINES = "rgba(128,128,128,.25)"
_AROUND_PANELS, _LEAST_PANEL = 140, 190  # pixels, chosen by eye: the labels of classes, and a title of 24 characters
_LONGEST = 160  # characters: a hover label of three lines
# Points of 50,000 samples make a page of 22 MB that takes a minute to write and browsers seconds to draw.
MOST_DRAWN = 2000
_SEED = 42  # the same run draws the same points


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of a page."""

    name: str  # its file's name with `--figures`, and its anchor
    # Plain texts; the caption says how to read it
    title: str
    caption: str
    plot: go.Figure
    panels: int = 1  # how many are side by side in it

    @property
    def height(self) -> int:
        """In pixels."""
        return int(self.plot.layout.height)

    @property
    def least_width(self) -> int:
        """In pixels: on narrower screens it scrolls, since titles of panels would run into each other."""
        if self.panels == 1:
            return 0
        return _AROUND_PANELS + self.panels * _LEAST_PANEL


def styled(plot: go.Figure, height: int, **layout: Any) -> go.Figure:
    """Give a figure the shared style; `layout` is plotly's."""
    plot.layout.template = _house()
    plot.update_layout({"margin": {"l": 60, "r": 20, "t": 30, "b": 50}, **layout}, height=height)
    return plot


def empty_plot(height: int, **layout: Any) -> go.Figure:
    """Make a figure in the shared style; `layout` is plotly's."""
    import plotly.graph_objects as go

    return styled(go.Figure(), height, **layout)


def grouped_bars(bars: Mapping[str, Mapping[str, Any]], height: int, **layout: Any) -> go.Figure:
    """Draw bars of several prompts side by side, by the prompts' names; `bars` and `layout` are plotly's."""
    plot = empty_plot(height, barmode="group", **layout)
    for number, (name, of_prompt) in enumerate(bars.items()):
        plot.add_bar(name=name, marker_color=color_of(number), **of_prompt)
    return plot


def drawn(prompts: Mapping[str, Predictions]) -> tuple[Mapping[str, Predictions], str]:
    """Return at most 2,000 random samples, the same under every prompt, and a sentence on that if there are more."""
    n_samples = len(next(iter(prompts.values())).samples)
    if n_samples <= MOST_DRAWN:
        return prompts, ""
    rows = np.sort(np.random.default_rng(_SEED).choice(n_samples, MOST_DRAWN, replace=False))
    note = f" Shown are {MOST_DRAWN:,} of {n_samples:,} samples, drawn at random."
    return {name: predictions.of_samples(rows) for name, predictions in prompts.items()}, note


@functools.cache
def _house() -> go.layout.Template:
    """The style of all figures as a template: it is checked once, and applies to each axis of a figure."""
    import plotly.graph_objects as go

    axis = {"gridcolor": _LINES, "zerolinecolor": _LINES, "linecolor": _LINES}
    layout = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "hoverlabel": {"bgcolor": "#fff", "bordercolor": "#888", "font": {"color": "#111"}, "align": "left"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#8886", "activecolor": "#888"},
        "xaxis": axis,
        "yaxis": axis,
    }
    return go.layout.Template(layout=layout)


def shown(text: str, longest: int = _LONGEST, width: int = 70) -> str:
    """A text from data as plotly shows it: short, broken into lines, and never mark-up, whatever it holds."""
    lines = textwrap.wrap(shortened(text, longest), width, break_long_words=False, break_on_hyphens=False)
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def shown_labels(labels: Iterable[str], longest: int) -> dict[str, str]:
    """Labels as a figure's axes show them: short, and numbered where two would look the same."""
    names: dict[str, str] = {}
    n_alike: Counter[str] = Counter()
    for label in labels:
        name = shown(label, longest)
        n_alike[name] += 1
        names[label] = name if n_alike[name] == 1 else f"{name} ({n_alike[name]})"
    return names


def color_of(number: int) -> str:
    """The colour of the prompt with this number."""
    return COLORS[number % len(COLORS)]
