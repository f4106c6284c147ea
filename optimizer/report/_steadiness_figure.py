"""How right the answers are if only the steadier ones are kept, and the others left to a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.evaluation import risk_coverage, steadiness, vote_is_right
from psopt.report._theme import Figure, color_of, styled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.evaluation import Predictions

_FEWEST_WORDINGS = 2


def kept_and_right(prompts: Mapping[str, Predictions]) -> Figure | None:
    """F1 of the answers that are kept, by their share; None under one wording, and of other answers than labels."""
    import plotly.graph_objects as go

    first = next(iter(prompts.values()))
    if first.n_rephrasings < _FEWEST_WORDINGS or not first.answers.is_plain:
        return None
    plot = go.Figure()
    for number, (name, predictions) in enumerate(prompts.items()):
        points = risk_coverage(steadiness(predictions), vote_is_right(predictions))
        plot.add_scatter(
            x=[round(point.share, 4) for point in points],
            y=[round(point.f1, 4) for point in points],
            customdata=[[point.n_kept, point.least_f1] for point in points],
            name=name,
            mode="lines+markers",
            line_color=color_of(number),
            hovertemplate="%{x:.0%} kept (%{customdata[0]}): F1 %{y:.1%}, surely %{customdata[1]:.1%}",
        )
    styled(plot, 300, xaxis_title="answers kept, the steadiest first", yaxis_title="F1 of what is kept")
    plot.update_layout(xaxis_tickformat=".0%", yaxis_tickformat=".0%", xaxis_range=[0, 1.02])
    caption = (
        "Each text has the answer of most wordings; those with the highest S are left to a person first. Where a line "
        "is flat, S does not tell right answers from wrong ones. psopt classify --abstain and --target-f1 do it."
    )
    return Figure("kept-and-right", "When to ask a person", caption, plot)
