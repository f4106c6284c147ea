"""`psopt.load_run`: a run directory as the run that it holds, finished or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.runs import read_run

if TYPE_CHECKING:
    from pathlib import Path

    import plotly.graph_objects as go
    from psopt.diagnosis import PromptReport
    from psopt.runs import Run


def load_run(path: str | Path, *, storage: str | None = None) -> Run:
    """Load a run to look at it: nothing is asked and nothing written, also while another process works on it.

    A run that was broken off has its front with scores on val; of one that is under way, or was killed, the front is
    that of the trials so far, without intervals and without the limits on length. `finish_reason` tells them apart.

    Parameters
    ----------
    path : path
        The run directory.
    storage : str, optional
        The study's storage, where it needs a password that is nowhere else.

    Raises
    ------
    InputError
        If there is no run, if nothing was evaluated yet, or a file is missing or damaged.
    """
    return replace(read_run(path, storage), draw=draw_run)


def draw_run(run: Run) -> go.Figure:
    """Draw a run's prompts (see `Run.figure`)."""
    from psopt.report import run_figure

    return run_figure(run)


def draw_diagnosis(report: PromptReport) -> go.Figure:
    """Draw a diagnosis (see `PromptReport.figure`)."""
    from psopt.report import diagnosis_figure

    return diagnosis_figure(report)
