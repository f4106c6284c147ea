"""Prompt by prompt: all evaluated prompts, several runs' fronts, and what each edit of one contributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.report._theme import IN_PERCENT, SCALE, Figure, color_of, empty_plot, shown
from psopt.runs import quality_name
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import plotly.graph_objects as go

_MOST_EDITS = 8  # lines of a hover label
_EDGE = 0.05  # beyond the ends of the scale, so that no mark is cut
_LEAST_RANGE = 0.1  # of C that the colours span
_INFEASIBLE = "infeasible: below the original"
# Symbol, size, opacity and width of the outline, in drawing order: what matters most lies on top.
_LAYERS = {
    _INFEASIBLE: ("x", 9, 0.25, 0.5),
    "evaluated": ("circle", 9, 0.75, 0.5),
    "front": ("circle", 13, 1.0, 1.5),
    "original prompt": ("diamond", 15, 1.0, 1.5),
    "knee": ("star", 19, 1.0, 1.5),
    "recommended": ("hexagram", 19, 1.0, 1.5),
}
_AXES = {
    "xaxis_title": "sensitivity S (further left is better)",
    "xaxis_tickformat": IN_PERCENT,
    "yaxis_tickformat": IN_PERCENT,
}
_MEASURES = (
    ("f1", "F1 gained", "#2f6fde", 1),
    ("sensitivity", "S taken away", "#d97706", -1),
    ("consistency", "C gained", "#1a9c5f", 1),
)


def front_figure(run: Mapping[str, Any], trials: Sequence[Mapping[str, Any]], quality: str = "") -> Figure:
    """F1 (or the `quality` in its place) against S on val, C as colour: the front, baseline and others."""
    quality = quality or quality_name(run)
    # Around points that all coincide, Plotly shows a range of 1 to each side
    axis = {"tickformat": IN_PERCENT, "autorangeoptions": {"clipmin": -_EDGE, "clipmax": 1 + _EDGE}}
    titles = ("sensitivity S on val (further left is better)", f"{quality} on val")
    plot = empty_plot(440, xaxis={**axis, "title": titles[0]}, yaxis={**axis, "title": titles[1]})
    for name, layer in _layers(run, trials).items():
        if not layer:
            continue
        symbol, size, opacity, width = _LAYERS[name]
        # This grey is visible on white and on black
        marker = {"symbol": symbol, "size": size, "color": color_of(0), "line": {"width": width, "color": "#888"}}
        colors = [trial["consistency"] for trial in layer]
        if None not in colors:
            marker |= {"color": colors, "coloraxis": "coloraxis"}
        plot.add_scatter(
            x=[trial["sensitivity"] for trial in layer],
            y=[trial["f1"] for trial in layer],
            mode="markers",
            name=name,
            opacity=opacity,
            hovertext=[_about(trial, quality) for trial in layer],
            hoverinfo="text",
            marker=marker,
        )
    were = "was" if len(trials) == 1 else "were"
    caption = f"{counted(len(trials), 'prompt')} {were} evaluated on the same samples and rephrasings"
    if n_stopped := run.get("race", {}).get("stopped", 0):
        caption += f", {n_stopped} more on a part of them, as they fell behind"
    caption += ". Up and to the left is better"
    consistencies = [trial["consistency"] for trial in trials if trial["consistency"] is not None]
    if consistencies:
        low, high = min(consistencies), max(consistencies)
        # Plotly's own range goes beyond 100 % where they are close together
        ends = {"cmin": max(0.0, min(low, high - _LEAST_RANGE)), "cmax": min(1.0, max(high, low + _LEAST_RANGE))}
        bar = {"title": {"text": "C"}, "thickness": 14, "tickformat": IN_PERCENT}
        plot.update_layout(coloraxis={"colorscale": SCALE, "colorbar": bar, **ends})
        caption += ", and the lighter the more consistent"
    return Figure("front", "All prompts that were tried", f"{caption}. Point at a prompt to see its edits.", plot)


def fronts_figure(runs: Mapping[str, Mapping[str, Any]]) -> Figure:
    """F1 against S on test for several runs' fronts and original prompts, by the runs' names."""
    qualities = list(map(quality_name, runs.values()))
    plot = empty_plot(380, **_AXES, yaxis_title=" or ".join(dict.fromkeys(qualities)))
    for number, (quality, (name, run)) in enumerate(zip(qualities, runs.items(), strict=True), start=1):
        original = {**run["baseline"], "edits": []}
        _add_tested(plot, name, run["front"], quality, {"color": color_of(number)})
        _add_tested(plot, f"{name}, original", [original], quality, {"color": color_of(number), "symbol": "diamond"})
    caption = "Up and to the left is better. Fronts were chosen on val: on test a prompt may be beaten by another one."
    return Figure("fronts", "The fronts", caption, plot)


def compared_figure(measured: Mapping[str, Mapping[str, Any]], quality: str) -> Figure:
    """F1 against S with their intervals, one point per entry of `measured`: scores by name."""
    plot = empty_plot(380, **_AXES, yaxis_title=quality)
    for number, (name, scores) in enumerate(measured.items(), start=1):
        _add_tested(plot, name, [{"id": name, "edits": [], "test": scores}], quality, {"color": color_of(number)})
        for key, axis in (("sensitivity", "error_x"), ("f1", "error_y")):
            plot.data[-1][axis] = _reach([scores[key]], [scores["ci"][key]])
    caption = "Up and to the left is better. Lines are 95 % intervals."
    return Figure("compared", f"{quality} against S", caption, plot)


def _add_tested(
    plot: go.Figure, name: str, entries: Sequence[Mapping[str, Any]], quality: str, marker: Mapping[str, Any]
) -> None:
    """Add those of run.json's prompts that were scored on test, under one name."""
    tested = [entry for entry in entries if entry["test"]]
    plot.add_scatter(
        x=[entry["test"]["sensitivity"] for entry in tested],
        y=[entry["test"]["f1"] for entry in tested],
        mode="markers",
        name=name,
        marker={"symbol": "circle", "size": 12, **marker},
        hovertext=[_about({**entry, **entry["test"]}, quality) for entry in tested],
        hoverinfo="text",
    )


def _reach(values: Sequence[float], ends: Sequence[Sequence[float]]) -> dict[str, Any]:
    """How far intervals extend to either side, in plotly's form."""
    above = [high - value for value, (_, high) in zip(values, ends, strict=True)]
    below = [value - low for value, (low, _) in zip(values, ends, strict=True)]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "thickness": 1}


def _layers(run: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Each trial in its layer; the original prompt may also be the knee."""
    knee = next((entry["id"] for entry in run["front"] if entry["knee"]), None)
    baseline = run["baseline"]["id"]
    layer_of = {entry["id"]: "front" for entry in run["front"]}
    layer_of |= {(run.get("recommended") or {}).get("id"): "recommended", knee: "knee", baseline: "original prompt"}
    layers: dict[str, list[Mapping[str, Any]]] = {name: [] for name in _LAYERS}
    for trial in trials:
        layers[layer_of.get(trial["id"], "evaluated" if trial["feasible"] else _INFEASIBLE)].append(trial)
        if trial["id"] == knee == baseline:
            layers["knee"].append(trial)
    return layers


def _about(trial: Mapping[str, Any], quality: str) -> str:
    """The hover text of a prompt, from trials.json or from run.json, whose edits are not texts."""
    head = f"<b>{shown(trial['id'])}</b>"
    if "trial" in trial:
        head += f", trial {trial['trial']}"
    scores = f"{quality} {100 * trial['f1']:.1f}   S {100 * trial['sensitivity']:.1f}"
    if trial["consistency"] is not None:
        scores += f"   C {100 * trial['consistency']:.1f}"
    texts = [edit if isinstance(edit, str) else f"{edit['kind']}: {edit['text']}" for edit in trial["edits"]]
    edits = [f"+ {shown(text, 90)}" for text in texts[:_MOST_EDITS]] or ["no edits"]
    if len(texts) > _MOST_EDITS:
        edits.append(f"and {len(texts) - _MOST_EDITS} more")
    return "<br>".join([head, scores, *edits])


def contributions_figure(contributions: Sequence[Mapping[str, Any]]) -> Figure | None:
    """Bars for the gain of every edit in each objective, with intervals; None where no edit was left out."""
    if not contributions:
        return None
    rows = list(reversed(contributions))
    axis = {"showticklabels": False, "showgrid": False, "zeroline": False, "range": [-0.5, len(rows) - 0.1]}
    layout = {"margin": {"l": 20, "r": 20, "t": 40, "b": 50}, "bargap": 0.5, "legend_traceorder": "reversed"}
    height = 110 + 104 * len(rows)
    plot = empty_plot(height, barmode="group", **layout, yaxis=axis, xaxis_title="percentage points on val")
    for key, name, color, sign in reversed(_MEASURES):
        if any(key not in row["without"] for row in rows):  # C, where there are no classes
            continue
        differences = [row["without"][key] for row in rows]
        gains = [-sign * 100 * of["difference"] for of in differences]
        ends = [sorted((-sign * 100 * of["low"], -sign * 100 * of["high"])) for of in differences]
        plot.add_bar(
            y=list(range(len(rows))),
            x=gains,
            orientation="h",
            name=name,
            marker_color=color,
            error_x={**_reach(gains, ends), "color": "#888", "width": 2},
            hovertext=[shown(row["what"], 300) for row in rows],
            hovertemplate="%{hovertext}<br>%{x:.2f} points<extra></extra>",
        )
    for number, row in enumerate(rows):  # above the bars: next to them it would leave no room for them on a phone
        text = f"{len(rows) - number}. {shown(row['what'], 80, 46)}"
        place = {"x": 0, "xref": "paper", "xanchor": "left", "y": number + 0.28, "yanchor": "bottom"}
        plot.add_annotation(text=text, align="left", showarrow=False, **place)
    caption = (
        "Left out of the chosen prompt one at a time: what is then lost on val, with 95 % intervals of the paired "
        "difference. Edits overlap, so that one whose bar is short may only be backed up by another."
    )
    return Figure("contributions", "What the edits contribute", caption, plot)
