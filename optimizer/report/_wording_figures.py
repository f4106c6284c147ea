"""Wording by wording: which rephrasings hurt, between which classes answers flip, and whether Q is enough."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.evaluation import quality_of
from psopt.metrics import flip_pairs, prompt_f1, rephrasing_curve, rephrasing_damage
from psopt.report._theme import CLASSES, IN_PERCENT, Figure, color_of, empty_plot, grouped_bars, shown, shown_labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import plotly.graph_objects as go
    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.metrics import RephrasingCurve

_MOST_PAIRS = 10  # of confused labels: a figure's rows, chosen by eye
_FEWEST_WORDINGS = 2  # that can be compared
_ROUNDING = 1e-9  # wordings closer than this hurt alike
_NARROW = 0.02  # a choice, not a measurement: two points; the caption names it


def damage(prompts: Mapping[str, Predictions], wordings: Sequence[str]) -> Figure | None:
    """The accuracy that each rephrasing loses; None where there is only one."""
    if len(wordings) < _FEWEST_WORDINGS:
        return None
    bars = {}
    for name, predictions in prompts.items():
        right, lost = _right_and_lost(predictions)
        bars[name] = {
            "x": [f"{number + 1}" for number in range(len(wordings))],
            "y": lost.round(4).tolist(),
            "hovertext": [
                f"{shown(text, 240)}<br>right: {share:.1%}" for text, share in zip(wordings, right, strict=True)
            ],
            "hovertemplate": "%{hovertext}<br>lost %{y:.1%}<extra>" + name + "</extra>",
        }
    worst = np.flatnonzero(lost >= lost.max() - _ROUNDING).tolist()
    titles = {"yaxis_title": "accuracy lost", "xaxis_title": "rephrasing (point at it to read it)"}
    plot = grouped_bars(bars, 300, **titles, yaxis_tickformat=IN_PERCENT, xaxis_type="category")
    caption = "Accuracy that a rephrasing loses against the mean of the others."
    if len(worst) == 1:
        text = " ".join(wordings[worst[0]].split())
        caption += f" Wording {worst[0] + 1} hurts {name} most: “{text}”"
    return Figure("rephrasing-damage", "Which rephrasing hurts most", caption, plot)


def _right_and_lost(predictions: Predictions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The share right under each wording, and how far below the mean of the others: (Q,) each."""
    if predictions.answers.open is None:
        return prompt_f1(predictions.array, predictions.truth), rephrasing_damage(predictions.array, predictions.truth)
    quality = np.array([quality_of(predictions.under([column])) for column in range(predictions.n_rephrasings)])
    others = (quality.sum() - quality) / max(1, len(quality) - 1)
    return quality, others - quality


def flips(prompts: Mapping[str, Predictions]) -> Figure | None:
    """Between which two labels samples flip; None for open answers."""
    first = next(iter(prompts.values()))
    if first.answers.open is not None:
        return None
    names = list(shown_labels(first.class_names, 24).values())
    flips_of: dict[str, dict[tuple[int, int], int]] = {}
    total: Counter[tuple[int, int]] = Counter()
    for name, predictions in prompts.items():
        # Probabilities are never 0: by them every sample would flip.
        answers = predictions.p_tau if predictions.probabilities is None else predictions.counts
        flips_of[name] = {(pair.first, pair.second): pair.n_samples for pair in flip_pairs(answers)}
        total.update(flips_of[name])
    most = sorted(total, key=lambda pair: (total[pair], pair))[-_MOST_PAIRS:]
    bars = {}
    for name, n_samples in flips_of.items():
        bars[name] = {
            "y": [f"{names[a]} –<br>{names[b]}" for a, b in most],
            "x": [n_samples.get(pair, 0) for pair in most],
            "orientation": "h",
            "hovertemplate": "%{y}: %{x} samples",
        }
    plot = grouped_bars(bars, 110 + 34 * max(1, len(most)), xaxis_title="samples", yaxis=CLASSES)
    caption = "The two answers that an unstable sample is given most often."
    return Figure("flips", "Between which classes answers flip", caption, plot)


def enough(prompts: Mapping[str, Predictions], seed: int) -> Figure | None:
    """S as the number of rephrasings grows; None under one, and for open answers with graded similarity."""
    first = next(iter(prompts.values()))
    is_graded = first.answers.open is not None and first.answers.open.is_graded
    if is_graded or first.n_rephrasings < _FEWEST_WORDINGS:
        return None
    plot = empty_plot(320, xaxis_title="rephrasings", yaxis_title="S", yaxis_tickformat=IN_PERCENT)
    enough_of = []
    for number, (name, predictions) in enumerate(prompts.items()):
        curve = rephrasing_curve(predictions.scored, predictions.true_classes, predictions.n_classes, seed=seed)
        sizes = curve.sizes.tolist()
        _add_interval(plot, curve, color_of(number))
        plot.add_scatter(
            x=sizes,
            y=curve.mean["sensitivity"].round(5).tolist(),
            name=name,
            mode="lines+markers",
            line_color=color_of(number),
            hovertemplate="%{x} rephrasings: S %{y:.1%}",
        )
        least = curve.enough("sensitivity", _NARROW) or f"more than {sizes[-1]}"
        enough_of.append(f"{name} {least}")
    caption = (
        "S of subsets of the rephrasings, with the interval in which it would fall under as many new ones. S rises "
        "with their number: compare at the same number only. "
        f"Rephrasings needed for an interval of 2 points: {', '.join(enough_of)}."
    )
    return Figure("rephrasings-enough", "Were these rephrasings enough?", caption, plot)


def _add_interval(plot: go.Figure, curve: RephrasingCurve, color: str) -> None:
    """Shade what lies between the ends of S; all rephrasings are one subset, without an interval."""
    high, low = curve.high["sensitivity"], curve.low["sensitivity"]
    is_finite = np.isfinite(high)
    x, y = [*curve.sizes[is_finite], *curve.sizes[is_finite][::-1]], [*high[is_finite], *low[is_finite][::-1]]
    style = {"fill": "toself", "fillcolor": color, "opacity": 0.2, "mode": "none"}
    plot.add_scatter(x=x, y=y, **style, hoverinfo="skip", showlegend=False)


def families(scores: Mapping[str, Mapping[str, Any]]) -> Figure | None:
    """S under each family of rephrasings; None for a single family. From scores in run.json's form."""
    per_family = {name: of_prompt["per_family"] for name, of_prompt in scores.items()}
    if not any(per_family.values()):
        return None
    bars = {}
    for name, by_family in per_family.items():
        bars[name] = {
            "x": list(by_family),
            "y": [family["sensitivity"] for family in by_family.values()],
            "customdata": [[family["n"], family["f1"]] for family in by_family.values()],
            "hovertemplate": "%{x}: S %{y:.1%}, F1 %{customdata[1]:.1%}, %{customdata[0]} rephrasings",
        }
    plot = grouped_bars(bars, 300, yaxis_title="S", yaxis_tickformat=IN_PERCENT)
    caption = "What is varied: words, sentences around them, formats, the order of labels or of examples."
    return Figure("families", "Sensitivity by family of rephrasings", caption, plot)
