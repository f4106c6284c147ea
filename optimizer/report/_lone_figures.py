"""Figures outside a page: plotly objects for notebooks, and files that Chrome or Chromium draws."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from psopt.errors import InputError, import_extra
from psopt.report._prompt_figures import front_figure
from psopt.report._sample_figures import joint_view, sample_sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import plotly.graph_objects as go
    from psopt.diagnosis import PromptReport
    from psopt.report._theme import Figure
    from psopt.runs import Run

_GREY = "#858c97"  # a grey that is readable on white (3.4:1) and on the dark themes' #1e1e1e (4.9:1)
WIDTH = 960  # pixels, as wide as the report's column


def run_figure(run: Run) -> go.Figure:
    """Draw every prompt that a run has evaluated completely, by F1, S and C on val, as its report shows them."""
    knee = run.pick("knee").id
    front = [{"id": candidate.id, "knee": candidate.id == knee} for candidate in run.front]
    about = {"front": front, "baseline": {"id": run.baseline.id}}
    return _alone(front_figure(about, run.evaluated_trials(), run.baseline.val.quality_name))


def diagnosis_figure(report: PromptReport) -> go.Figure:
    """Draw each sample's S against its mean consistency; where that is not defined, the distribution of S."""
    prompts = {"prompt": report.predictions}
    figure = None
    if report.scores is not None:
        figure = joint_view(prompts)
    return _alone(figure or sample_sensitivity(prompts))


def _alone(figure: Figure) -> go.Figure:
    """A figure with its title, outside a page."""
    plot = figure.plot
    plot.update_layout(font_color=_GREY, title={"text": figure.title, "x": 0.01, "font": {"size": 14}}, margin_t=80)
    return plot


def save_figures(figures: Iterable[Figure], folder: Path) -> list[Path]:
    """Write NAME.png, NAME.svg and NAME.pdf of every figure to a folder, which is created if needed.

    Raises MissingExtraError without kaleido, and InputError if no browser is found or the folder can't be written.
    """
    import_extra("kaleido", "saving figures", "figures")
    import plotly.graph_objects as go
    import plotly.io

    logging.getLogger("choreographer").setLevel(logging.CRITICAL)  # it logs odd messages of its browser

    plots = []
    paths = []
    for figure in figures:
        plot = go.Figure(figure.plot)
        plot.update_layout(paper_bgcolor="#fff", plot_bgcolor="#fff", title={"text": figure.title, "x": 0.01})
        plot.update_layout(margin_t=plot.layout.margin.t + 50, height=figure.height + 50, width=WIDTH)
        for ending in ("png", "svg", "pdf"):
            plots.append(plot)
            paths.append(folder / f"{figure.name}.{ending}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        plotly.io.write_images(plots, paths)
    except RuntimeError as error:  # plotly raises it if there is no browser
        raise InputError("--figures needs Chrome or Chromium (Debian: apt install chromium)") from error
    except OSError as error:
        raise InputError(f"--figures {folder} can't be written: {error.strerror}") from error
    return paths
