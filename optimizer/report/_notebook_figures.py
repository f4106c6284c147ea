"""Figures of a run and of a diagnosis as plotly's own objects, for notebooks: light or dark, on their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.report._front_figure import front_figure
from psopt.report._sample_figures import joint_view, sample_sensitivity

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from psopt.diagnosis import PromptReport
    from psopt.report._theme import Figure
    from psopt.runs import Run

_GREY = "#858c97"  # a grey that reads on white (3.4:1) and on the dark themes' #1e1e1e (4.9:1)


def run_figure(run: Run) -> go.Figure:
    """Draw every prompt that a run has evaluated in whole, by F1, S and C on val, as its report shows them."""
    knee = run.pick("knee").id
    front = [{"id": candidate.id, "knee": candidate.id == knee} for candidate in run.front]
    about = {"front": front, "baseline": {"id": run.baseline.id}}
    return _alone(front_figure(about, run.evaluated_trials(), run.baseline.val.quality_name))


def diagnosis_figure(report: PromptReport) -> go.Figure:
    """Draw each sample's S against its mean consistency; where that is not defined, how many samples have which S."""
    prompts = {"prompt": report.predictions}
    by_consistency = joint_view(prompts) if report.scores is not None else None
    return _alone(by_consistency or sample_sensitivity(prompts))


def _alone(figure: Figure) -> go.Figure:
    """A figure with its title, outside of a page."""
    plot = figure.plot
    plot.update_layout(font_color=_GREY, title={"text": figure.title, "x": 0.01, "font": {"size": 14}}, margin_t=80)
    return plot
