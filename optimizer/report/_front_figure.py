"""The front: every prompt that was evaluated, in the three objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.report._theme import SCALE, Figure, shown, styled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_EDITS = 8


def front_figure(run: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]) -> Figure:
    """F1 against S on val, C as colour: the front, its knee, the baseline; infeasible prompts are faded."""
    import plotly.graph_objects as go

    knee = next((one["id"] for one in run["front"] if one["knee"]), None)
    on_front = {one["id"] for one in run["front"]}
    baseline = run["baseline"]["id"]
    layers = {
        "infeasible: too little F1": [one for one in trials if not one["feasible"] and one["id"] != baseline],
        "evaluated": [one for one in trials if one["feasible"] and one["id"] not in on_front and one["id"] != baseline],
        "front": [one for one in trials if one["id"] in on_front and one["id"] not in (knee, baseline)],
        "seed prompt": [one for one in trials if one["id"] == baseline],
        "knee": [one for one in trials if one["id"] == knee],
    }
    symbols = {"seed prompt": "diamond", "knee": "star", "front": "circle", "evaluated": "circle"}
    sizes = {"seed prompt": 15, "knee": 19, "front": 13}
    plot = go.Figure()
    for name, some in layers.items():
        if not some:
            continue
        plot.add_scatter(
            x=[one["sensitivity"] for one in some],
            y=[one["f1"] for one in some],
            mode="markers",
            name=name,
            opacity=1.0 if name in sizes else 0.75 if name == "evaluated" else 0.25,
            hovertext=[_about(one) for one in some],
            hoverinfo="text",
            marker={
                "symbol": symbols.get(name, "x"),
                "size": sizes.get(name, 9),
                "color": [one["consistency"] for one in some],
                "coloraxis": "coloraxis",
                "line": {"width": 1.5 if name in sizes else 0, "color": "#555"},
            },
        )
    styled(
        plot,
        440,
        coloraxis={"colorscale": SCALE, "colorbar": {"title": {"text": "C"}, "thickness": 14}},
        xaxis_title="sensitivity S on val (further left is better)",
        yaxis_title="F1 on val",
    )
    caption = (
        f"{len(trials)} prompts were evaluated on the same samples and rephrasings. Up and to the left is better, "
        "and the lighter the more consistent. Point at a prompt to see its edits."
    )
    return Figure("front", "All prompts that were tried", caption, plot)


def _about(one: Mapping[str, Any]) -> str:
    head = f"<b>{one['id']}</b>, trial {one['trial']}"
    scores = f"F1 {one['f1']:.3f}   S {one['sensitivity']:.3f}   C {one['consistency']:.3f}"
    edits = [f"+ {shown(edit, 90)}" for edit in one["edits"][:_MOST_EDITS]]
    rest = len(one["edits"]) - len(edits)
    more = [f"and {rest} more"] if rest else []
    return "<br>".join([head, scores, *(edits or ["no edits"]), *more])
