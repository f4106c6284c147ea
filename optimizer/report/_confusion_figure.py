"""What the samples of each class are answered: confusion matrices, one prompt beside the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.report._theme import SCALE, Figure, shown, styled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions

_MOST_CLASSES = 40  # more can't be told apart on a screen


def confusion(prompts: Mapping[str, Predictions]) -> Figure | None:
    """Which share of the answers to a class's samples names which class; None of open answers and many classes."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    first = next(iter(prompts.values()))
    if first.answers.open is not None or len(first.class_names) > _MOST_CLASSES:
        return None
    rows = [label for label in first.labels if len(first.members(label))]
    columns = [shown(name, 24) for name in first.class_names]
    plot = make_subplots(1, len(prompts), subplot_titles=list(prompts), horizontal_spacing=0.04, shared_yaxes=True)
    for place, predictions in enumerate(prompts.values()):
        heat = go.Heatmap(
            z=(100 * shares_by_class(predictions, rows)).round(1),
            x=columns,
            y=[shown(label, 24) for label in rows],
            coloraxis="coloraxis",
            hovertemplate="%{y} answered %{x}: %{z} %<extra></extra>",
        )
        plot.add_trace(heat, row=1, col=1 + place)
    bar = {"title": {"text": "% of answers"}, "thickness": 14}
    styled(plot, 200 + 28 * len(rows), coloraxis={"colorscale": SCALE, "cmin": 0, "cmax": 100, "colorbar": bar})
    plot.update_layout(margin={"l": 140, "r": 20, "t": 40, "b": 110})
    plot.update_xaxes(showgrid=False, ticks="")
    plot.update_yaxes(showgrid=False, ticks="", autorange="reversed")
    caption = (
        "A row is the samples of a class, a column what they are answered under all wordings. The diagonal is right, a "
        "light square beside it is a class that is taken for another."
    )
    return Figure("confusion", "What each class is taken for", caption, plot, panels=len(prompts))


def shares_by_class(predictions: Predictions, labels: list[str]) -> NDArray[np.float64]:
    """Of each of these classes the share of its samples' answers that names each class, N/A last: rows sum to 1."""
    counts = np.array([predictions.counts[predictions.members(label)].sum(axis=0) for label in labels])
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
