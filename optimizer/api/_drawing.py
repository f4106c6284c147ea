"""How runs and diagnoses are drawn: they know nothing of figures, so that whoever makes them says who draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from psopt.diagnosis import PromptReport
    from psopt.runs import Run


def draw_run(run: Run) -> go.Figure:
    """Draw a run's prompts (see `Run.figure`)."""
    from psopt.report import run_figure

    return run_figure(run)


def draw_diagnosis(report: PromptReport) -> go.Figure:
    """Draw a diagnosis (see `PromptReport.figure`)."""
    from psopt.report import diagnosis_figure

    return diagnosis_figure(report)
