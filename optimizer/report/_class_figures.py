"""Class by class: sensitivity, consistency matrices (E25, figures 3 and 4), and what each class is taken for."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.metrics import pairwise_consistency
from psopt.report._theme import CLASSES, IN_PERCENT, SCALE, Figure, grouped_bars, shown, shown_labels, styled

if TYPE_CHECKING:
    from collections.abc import Mapping

    import plotly.graph_objects as go
    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Sample

    Indices = NDArray[np.int64]


_MOST_OF_A_CLASS = 60  # samples in a matrix: more can't be told apart on a screen
MOST_CLASSES = 40
"""More can't be told apart on a screen."""


def class_figures(prompts: Mapping[str, Predictions]) -> list[Figure]:
    """Both figures of classes' scores; none for open answers and many classes, or where no class has two samples."""
    first = next(iter(prompts.values()))
    if first.answers.open is not None or len(first.class_names) > MOST_CLASSES or not _labels(first):
        return []
    return [class_sensitivity(prompts), consistency_matrices(prompts)]


def class_sensitivity(prompts: Mapping[str, Predictions]) -> Figure:
    """S of every class (E25, figure 3 below)."""
    bars = {}
    for name, predictions in prompts.items():
        members = {label: predictions.members(label) for label in _labels(predictions)}
        bars[name] = {
            "x": list(shown_labels(members, 30).values()),
            "y": [float(predictions.sensitivities[of_class].mean()) for of_class in members.values()],
            "customdata": [len(of_class) for of_class in members.values()],
            "hovertemplate": "%{x}: S %{y:.1%}, %{customdata} samples",
        }
    plot = grouped_bars(bars, 320, yaxis_title="mean S", yaxis_tickformat=IN_PERCENT, xaxis=CLASSES)
    return Figure("class-sensitivity", "Sensitivity by class", "The lower the steadier.", plot)


def consistency_matrices(prompts: Mapping[str, Predictions]) -> Figure:
    """The consistency matrix of every class, the prompts side by side (E25, figure 4 above)."""
    from plotly.subplots import make_subplots

    first = next(iter(prompts.values()))
    cells = list(product(_labels(first), prompts))
    columns = min(4, len(cells))
    rows = -(-len(cells) // columns)
    names = shown_labels(_labels(first), 24)
    titles = [f"{names[label]}<br>{name}" for label, name in cells]
    plot = make_subplots(
        rows, columns, subplot_titles=titles, horizontal_spacing=0.02, vertical_spacing=min(0.3 / rows, 0.12)
    )
    orders = {label: _in_order(first, first.members(label)) for label in _labels(first)}
    for place, (label, name) in enumerate(cells):
        members = orders[label]
        matrix = (100 * pairwise_consistency(prompts[name].p_tau[members])).round().astype(np.uint8)
        texts = [_title(index, first.samples[index]) for index in members.tolist()]
        row, column = divmod(place, columns)
        hover = "%{z} %<br>%{x}<br>%{y}<extra></extra>"
        heat = {"z": matrix, "x": texts, "y": texts, "coloraxis": "coloraxis", "hovertemplate": hover}
        plot.add_heatmap(**heat, row=1 + row, col=1 + column)
    _style_heat(plot, 100 + 250 * rows, "C in %", showticklabels=False)
    plot.update_layout(margin_t=70)
    order = "subclass" if any(sample.subclass for sample in first.samples) else "how they are answered"
    caption = (
        f"Each row and column is a sample of the class, ordered by {order} (at most {_MOST_OF_A_CLASS} of a class are "
        "shown). Light squares along the diagonal in a dark field are parts of the class that the prompt treats in "
        "ways of their own."
    )
    return Figure("consistency-matrices", "Consistency within classes", caption, plot, panels=columns)


def _style_heat(plot: go.Figure, height: int, title: str, **axes: Any) -> None:
    """Give a figure of heat maps in percent one colour scale, with the first row on top."""
    bar = {"title": {"text": title}, "thickness": 14}
    styled(plot, height, coloraxis={"colorscale": SCALE, "cmin": 0, "cmax": 100, "colorbar": bar})
    plot.update_xaxes(**axes, showgrid=False, ticks="")
    plot.update_yaxes(**axes, showgrid=False, ticks="", autorange="reversed")
    plot.update_annotations(font_size=13)  # titles of panels, which are 190 pixels wide


def _labels(predictions: Predictions, least: int = 2) -> list[str]:
    """The labels that have at least so many samples."""
    return [label for label in predictions.labels if len(predictions.members(label)) >= least]


def _in_order(predictions: Predictions, members: Indices) -> Indices:
    """The members of a class by subclass and answers; evenly thinned out where there are many."""
    members = members[np.linspace(0, len(members) - 1, min(len(members), _MOST_OF_A_CLASS)).round().astype(int)]

    def place(index: int) -> tuple[str, list[int]]:
        return predictions.samples[index].subclass or "", sorted(predictions.array[index].tolist())

    return np.array(sorted(members.tolist(), key=place))


def _title(index: int, sample: Sample) -> str:
    """The name of a sample in a matrix: different for each sample."""
    title = f"{index}: {shown(sample.text, 80)}"
    return f"{title} ({shown(sample.subclass, 30)})" if sample.subclass else title


def confusion(prompts: Mapping[str, Predictions]) -> Figure | None:
    """The share of answers to a class's samples that names each class; None for open answers and many classes."""
    from plotly.subplots import make_subplots

    first = next(iter(prompts.values()))
    if first.answers.open is not None or len(first.class_names) > MOST_CLASSES:
        return None
    rows = _labels(first, least=1)
    columns = shown_labels(first.class_names, 24)
    plot = make_subplots(1, len(prompts), subplot_titles=list(prompts), horizontal_spacing=0.04, shared_yaxes=True)
    for place, predictions in enumerate(prompts.values()):
        counts = np.array([predictions.counts[predictions.members(label)].sum(axis=0) for label in rows])
        shares = (100 * (counts / counts.sum(axis=1, keepdims=True))).round(1)
        hover = "%{y} answered %{x}: %{z} %<extra></extra>"
        axes = {"x": list(columns.values()), "y": [columns[label] for label in rows]}
        heat = {"z": shares, **axes, "coloraxis": "coloraxis", "hovertemplate": hover}
        plot.add_heatmap(**heat, row=1, col=1 + place)
    _style_heat(plot, 200 + 28 * len(rows), "% of answers", **CLASSES)
    plot.update_layout(margin_t=40)
    caption = (
        "A row is the samples of a class, a column what they are answered under all wordings. The diagonal is right, a "
        "light square beside it is a class that is taken for another."
    )
    return Figure("confusion", "What each class is taken for", caption, plot, panels=len(prompts))
