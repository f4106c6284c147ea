"""Sample by sample: how S is distributed, S against consistency (E25, figures 3 and 6), which answers are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.evaluation import risk_coverage, vote_is_right, votes
from psopt.metrics import reference_scores
from psopt.report._theme import IN_PERCENT, Figure, color_of, drawn, empty_plot, grouped_bars, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import plotly.graph_objects as go
    from numpy.typing import NDArray
    from psopt.evaluation import Predictions

_FEWEST_WORDINGS = 2  # under one, every S is 0


def sample_sensitivity(prompts: Mapping[str, Predictions]) -> Figure:
    """How many samples have which S (E25, figure 3 above)."""
    bins = np.linspace(0, 1, 21)
    bars = {
        name: {
            "x": ((bins[:-1] + bins[1:]) / 2).round(3).tolist(),
            "y": np.histogram(predictions.sensitivities, bins)[0].tolist(),
            "hovertemplate": "S about %{x:.0%}: %{y} samples",
        }
        for name, predictions in prompts.items()
    }
    titles = {"xaxis_title": "S of a sample", "yaxis_title": "samples"}
    plot = grouped_bars(bars, 300, bargap=0.1, **titles, xaxis_tickformat=IN_PERCENT)
    still = ", ".join(f"{name} {(predictions.sensitivities == 0).mean():.0%}" for name, predictions in prompts.items())
    caption = f"Samples that always get the same answer, right or wrong: {still}."
    return Figure("sample-sensitivity", "Sensitivity over samples", caption, plot)


def joint_view(prompts: Mapping[str, Predictions]) -> Figure | None:
    """S against mean consistency, with what noise would give (E25, figure 6 and appendix A); None for open answers."""
    first = next(iter(prompts.values()))
    if first.answers.open is not None:
        return None
    prompts, note = drawn(prompts)
    titles = {"xaxis_title": "S of a sample", "yaxis_title": "mean consistency with its class"}
    plot = empty_plot(420, **titles, xaxis_tickformat=IN_PERCENT, yaxis_tickformat=IN_PERCENT)
    _add_yardsticks(plot, *next(iter(prompts.items())))
    for number, (name, predictions) in enumerate(prompts.items()):
        _add_samples(plot, name, predictions, color_of(number))
    caption = (
        "To the right and below: rephrasings break these samples in ways of their own, which may point at the model. "
        "To the right and above: the same mistakes over a whole class. To the left and below: steady, but unlike "
        "its class. "
        f"Click on a name to hide it.{note}"
    )
    return Figure("joint-view", "Sensitivity against consistency", caption, plot)


def _add_yardsticks(plot: go.Figure, prompt: str, predictions: Predictions) -> None:
    """Add what random answers, and the prompt's own ones half noised, would give."""
    references = reference_scores(predictions.array, predictions.truth, predictions.n_classes)
    yardsticks = (
        ("random", "random answers", "x-thin", "#c9853b"),
        ("half_noised", f"{prompt}, half noised", "cross-thin", "#a78bfa"),
    )
    for key, name, symbol, color in yardsticks:
        marker = {"symbol": symbol, "size": 6, "line": {"width": 1, "color": color}}
        consistencies = np.nan_to_num(references[key].sample_consistency, nan=1.0)
        style = {"marker": marker, "opacity": 0.5, "hoverinfo": "name"}
        _add_points(plot, name, references[key].sample_sensitivity, consistencies, **style)


def _add_samples(plot: go.Figure, name: str, predictions: Predictions, color: str) -> None:
    texts = [
        f"{shown(sample.text)}<br>{shown(str(sample.label), 40)}, {n} of {predictions.n_rephrasings} right"
        for sample, n in zip(predictions.samples, predictions.n_right, strict=True)
    ]
    template = "%{hovertext}<br>S %{x:.0%}, mean consistency %{y:.0%}<extra></extra>"
    style = {"opacity": 0.65, "marker": {"color": color, "size": 8}, "hovertext": texts, "hovertemplate": template}
    _add_points(plot, name, predictions.sensitivities, predictions.consistencies, **style)


def _add_points(plot: go.Figure, name: str, x: NDArray[Any], y: NDArray[Any], **style: Any) -> None:
    plot.add_scatter(x=x.round(4).tolist(), y=y.round(4).tolist(), mode="markers", name=name, **style)


def kept_and_right(prompts: Mapping[str, Predictions]) -> Figure | None:
    """F1 of the kept answers, by their share; None under one wording, and for answers other than labels."""
    first = next(iter(prompts.values()))
    if first.n_rephrasings < _FEWEST_WORDINGS or not first.answers.is_plain:
        return None
    titles = {"xaxis_title": "answers kept, the steadiest first", "yaxis_title": "F1 of what is kept"}
    ticks = {"xaxis_tickformat": IN_PERCENT, "yaxis_tickformat": IN_PERCENT}
    plot = empty_plot(300, **titles, **ticks, xaxis_range=[0, 1.02])
    for number, (name, predictions) in enumerate(prompts.items()):
        points = risk_coverage(votes(predictions).steadiness, vote_is_right(predictions))
        plot.add_scatter(
            x=[round(point.share, 4) for point in points],
            y=[round(point.f1, 4) for point in points],
            customdata=[[point.n_kept, point.least_f1] for point in points],
            name=name,
            mode="lines+markers",
            line_color=color_of(number),
            hovertemplate="%{x:.0%} kept (%{customdata[0]}): F1 %{y:.1%}, surely %{customdata[1]:.1%}",
        )
    caption = (
        "Each text has the answer of most wordings; those with the highest S are left to a person first. Where a line "
        "is flat, S does not tell right answers from wrong ones. psopt classify --abstain and --target-f1 do it."
    )
    return Figure("kept-and-right", "When to ask a person", caption, plot)
