"""The front: every prompt that was evaluated, in the three objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.report._theme import SCALE, Figure, color_of, shown, styled
from psopt.runs import quality_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_EDITS = 8


def front_figure(run: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]) -> Figure:
    """F1 against S on val, C as colour: the front, its knee, the baseline; infeasible prompts are faded."""
    import plotly.graph_objects as go

    layers = _layers(run, trials)
    symbols = {"seed prompt": "diamond", "knee": "star", "front": "circle", "evaluated": "circle"}
    sizes = {"seed prompt": 15, "knee": 19, "front": 13}
    quality = quality_name(run)
    plot = go.Figure()
    for name, layer in layers.items():
        if not layer:
            continue
        plot.add_scatter(
            x=[trial["sensitivity"] for trial in layer],
            y=[trial["f1"] for trial in layer],
            mode="markers",
            name=name,
            opacity=1.0 if name in sizes else 0.75 if name == "evaluated" else 0.25,
            hovertext=[_about(trial, quality) for trial in layer],
            hoverinfo="text",
            marker={
                "symbol": symbols.get(name, "x"),
                "size": sizes.get(name, 9),
                **_colors(layer),
                "line": {"width": 1.5 if name in sizes else 0, "color": "#555"},
            },
        )
    has_consistency = any(trial["consistency"] is not None for trial in trials)
    scale = {"colorscale": SCALE, "colorbar": {"title": {"text": "C"}, "thickness": 14}}
    styled(
        plot,
        440,
        **({"coloraxis": scale} if has_consistency else {}),
        xaxis_title="sensitivity S on val (further left is better)",
        yaxis_title=f"{quality} on val",
    )
    caption = (
        f"{len(trials)} prompts were evaluated on the same samples and rephrasings. Up and to the left is better"
        f"{', and the lighter the more consistent' if has_consistency else ''}. Point at a prompt to see its edits."
    )
    return Figure("front", "All prompts that were tried", caption, plot)


def _colors(layer: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """By C, where it is defined."""
    colors = [trial["consistency"] for trial in layer]
    return {"color": color_of(0)} if None in colors else {"color": colors, "coloraxis": "coloraxis"}


def _layers(run: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Each trial in one layer, in the order they are drawn in: what matters most lies on top."""
    knee = next((entry["id"] for entry in run["front"] if entry["knee"]), None)
    on_front = {entry["id"] for entry in run["front"]}
    baseline = run["baseline"]["id"]
    layers: dict[str, list[Mapping[str, Any]]] = {
        "infeasible: too little F1": [],
        "evaluated": [],
        "front": [],
        "seed prompt": [],
        "knee": [],
    }
    for trial in trials:
        if trial["id"] == knee:
            layers["knee"].append(trial)
        if trial["id"] == baseline:
            layers["seed prompt"].append(trial)
        elif not trial["feasible"]:
            layers["infeasible: too little F1"].append(trial)
        elif trial["id"] not in on_front:
            layers["evaluated"].append(trial)
        elif trial["id"] != knee:
            layers["front"].append(trial)
    return layers


def _about(trial: Mapping[str, Any], quality: str) -> str:
    head = f"<b>{trial['id']}</b>, trial {trial['trial']}"
    of_consistency = "" if trial["consistency"] is None else f"   C {trial['consistency']:.3f}"
    scores = f"{quality} {trial['f1']:.3f}   S {trial['sensitivity']:.3f}{of_consistency}"
    edits = [f"+ {shown(edit, 90)}" for edit in trial["edits"][:_MOST_EDITS]] or ["no edits"]
    n_hidden = len(trial["edits"]) - _MOST_EDITS
    ending = [f"and {n_hidden} more"] if n_hidden > 0 else []
    return "<br>".join([head, scores, *edits, *ending])
