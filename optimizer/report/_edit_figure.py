"""What each edit of the chosen prompt contributes: what is lost when it is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.report._theme import Figure, shown, styled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MEASURES = (
    ("f1", "F1 gained", "#2f6fde", 1),
    ("sensitivity", "S taken away", "#d97706", -1),
    ("consistency", "C gained", "#1a9c5f", 1),
)


def contributions_figure(contributions: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Bars of what every edit gains in each objective, with intervals; None where nothing was left out."""
    import plotly.graph_objects as go

    if not contributions:
        return None
    rows = list(reversed(contributions))
    plot = go.Figure()
    for key, name, color, sign in reversed(_MEASURES):
        if any(key not in row["without"] for row in rows):  # C, where there are no classes
            continue
        gains = [-sign * 100 * row["without"][key]["difference"] for row in rows]
        ends = [sorted(-sign * 100 * row["without"][key][end] for end in ("low", "high")) for row in rows]
        plot.add_bar(
            y=list(range(len(rows))),
            x=gains,
            orientation="h",
            name=name,
            marker_color=color,
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [high - gain for gain, (_, high) in zip(gains, ends, strict=True)],
                "arrayminus": [gain - low for gain, (low, _) in zip(gains, ends, strict=True)],
                "thickness": 1,
                "color": "#888",
                "width": 2,
            },
            hovertext=[shown(row["what"], 300) for row in rows],
            hovertemplate="%{hovertext}<br>%{x:.2f} points<extra></extra>",
        )
    for number, row in enumerate(rows):  # above the bars: beside them it would leave no room for these on a phone
        text = f"{len(rows) - number}. {shown(row['what'], 80, 46)}"
        place = {"x": 0, "xref": "paper", "xanchor": "left", "y": number + 0.28, "yanchor": "bottom"}
        plot.add_annotation(text=text, align="left", showarrow=False, **place)
    styled(plot, 110 + 104 * len(rows), barmode="group", bargap=0.5, xaxis_title="percentage points on val")
    plot.update_layout(margin={"l": 20, "r": 20, "t": 40, "b": 50}, legend_traceorder="reversed")
    plot.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, range=[-0.5, len(rows) - 0.1])
    caption = (
        "Left out of the chosen prompt one at a time: what is then lost on val, with 95 % intervals of the paired "
        "difference. Edits overlap, so that one whose bar is short may only be backed up by another."
    )
    return Figure("contributions", "What the edits contribute", caption, plot)
