"""Sample by sample: how S is distributed, S against consistency, and what was answered (E25, figures 2, 3 and 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.evaluation import NA
from psopt.metrics import reference_scores
from psopt.report._drawn import drawn, drawn_note
from psopt.report._theme import Figure, color_of, shown, styled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.evaluation import Predictions

_MOST_CHANGED = 8
_CLASSES = ("#2f6fde", "#d97706", "#1a9c5f", "#c2410c", "#7c3aed", "#0891b2", "#be185d", "#65a30d", "#a16207")
_NA_COLOR = "#6b7280"


def sample_sensitivity(prompts: Mapping[str, Predictions]) -> Figure:
    """How many samples have which S (E25, figure 3 above)."""
    import plotly.graph_objects as go

    plot = go.Figure()
    bins = np.linspace(0, 1, 21)
    for number, (name, predictions) in enumerate(prompts.items()):
        n_samples = np.histogram(predictions.sensitivities, bins)[0]
        plot.add_bar(
            x=((bins[:-1] + bins[1:]) / 2).round(3).tolist(),
            y=n_samples.tolist(),
            name=name,
            marker_color=color_of(number),
            hovertemplate="S about %{x:.2f}: %{y} samples",
        )
    styled(plot, 300, barmode="group", bargap=0.1, xaxis_title="S of a sample", yaxis_title="samples")
    still = ", ".join(f"{name} {(predictions.sensitivities == 0).mean():.0%}" for name, predictions in prompts.items())
    caption = f"Samples that always get the same answer, right or wrong: {still}."
    return Figure("sample-sensitivity", "Sensitivity over samples", caption, plot)


def joint_view(prompts: Mapping[str, Predictions]) -> Figure | None:
    """S against mean consistency, with what noise would give (E25, figure 6 and appendix A); None of open answers."""
    import plotly.graph_objects as go

    first = next(iter(prompts.values()))
    if first.answers.open is not None:
        return None
    note = drawn_note(prompts)
    prompts = drawn(prompts)
    first = next(iter(prompts.values()))
    plot = go.Figure()
    references = reference_scores(first.array, first.truth, first.n_classes)
    yardsticks = (
        ("random", "random answers", "x-thin", "#c9853b"),
        ("half_noised", f"{next(iter(prompts))}, half noised", "cross-thin", "#a78bfa"),
    )
    for key, name, symbol, color in yardsticks:
        reference = references[key]
        plot.add_scatter(
            x=reference.sample_sensitivity.round(4).tolist(),
            y=np.nan_to_num(reference.sample_consistency, nan=1.0).round(4).tolist(),
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 6, "line": {"width": 1, "color": color}},
            opacity=0.5,
            hoverinfo="name",
        )
    for number, (name, predictions) in enumerate(prompts.items()):
        plot.add_scatter(
            x=predictions.sensitivities.round(4).tolist(),
            y=predictions.consistencies.round(4).tolist(),
            mode="markers",
            name=name,
            opacity=0.65,
            marker={"color": color_of(number), "size": 8},
            hovertext=[
                f"{shown(sample.text)}<br>{shown(str(sample.label), 40)}, {n} of {predictions.n_rephrasings} right"
                for sample, n in zip(predictions.samples, predictions.n_right, strict=True)
            ],
            hovertemplate="%{hovertext}<br>S %{x:.2f}, mean consistency %{y:.2f}<extra></extra>",
        )
    styled(plot, 420, xaxis_title="S of a sample", yaxis_title="mean consistency with its class", legend_y=1.02)
    caption = (
        "To the right and below: the prompt is at fault, rephrasings break these samples in different ways. To the "
        "right and above: the same mistakes over a whole class. To the left and below: steady, but unlike its class. "
        f"Click on a name to hide it.{note}"
    )
    return Figure("joint-view", "Sensitivity against consistency", caption, plot)


def changed_samples(before: tuple[str, Predictions], after: tuple[str, Predictions]) -> Figure | None:
    """What the samples whose S changed most were answered, before and after (E25, figure 2); None of open answers."""
    import plotly.graph_objects as go

    name, first = before
    name_after, second = after
    if first.answers.open is not None:
        return None
    change = first.sensitivities - second.sensitivities
    by_change = np.argsort(-np.abs(change), kind="stable")[:_MOST_CHANGED]
    most = [int(index) for index in by_change if change[index] != 0]
    rows = [row for index in reversed(most) for row in ((index, name_after, second), (index, name, first))]
    heights = [number + number // 2 for number in range(len(rows))]  # a gap after every second row, for the text
    plot = go.Figure()
    for place, label in enumerate(first.class_names):
        shares = [float(answered.p_tau[index][place] / answered.p_tau[index].sum()) for index, _, answered in rows]
        if any(shares):
            plot.add_bar(
                y=heights,
                x=shares,
                orientation="h",
                name=shown(label, 30),
                marker_color=_NA_COLOR if label == NA else _CLASSES[place % len(_CLASSES)],
                hovertext=[f"{shown(first.samples[index].text)}<br>{prompt}" for index, prompt, _ in rows],
                hovertemplate="%{hovertext}: %{x:.0%} " + shown(label, 30) + "<extra></extra>",
            )
    for number, index in enumerate(reversed(most)):
        sample = first.samples[index]
        words = shown(f"{sample.text} ({sample.label})", 110, 200)
        plot.add_annotation(x=0, y=3 * number + 1.85, xanchor="left", showarrow=False, text=words)
    styled(plot, 100 + 84 * max(1, len(most)), barmode="stack", bargap=0.25, xaxis_title="share of the rephrasings")
    plot.update_layout(margin={"l": 100, "r": 20, "t": 40, "b": 50}, legend_traceorder="normal")
    plot.update_xaxes(tickformat=".0%", range=[0, 1])
    plot.update_yaxes(ticktext=[prompt for _, prompt, _ in rows], tickvals=heights, showgrid=False, zeroline=False)
    caption = "The samples whose sensitivity changed most, for better or worse, with their true class in brackets."
    return Figure("changed-samples", "What was answered, before and after", caption, plot)
