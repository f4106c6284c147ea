"""Figures as files: PNG and SVG, drawn by a Chrome or Chromium on this machine."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from psopt.errors import InputError, import_extra

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from psopt.report._theme import Figure

WIDTH = 960


def save_figures(figures: Iterable[Figure], folder: Path) -> list[Path]:
    """Write NAME.png and NAME.svg of every figure to a folder, which is made if need be.

    Raises MissingExtraError if kaleido is not installed. Raises InputError if no browser is found, or the folder can't
    be written.
    """
    import_extra("kaleido", "saving figures", "figures")
    import plotly.graph_objects as go
    import plotly.io

    logging.getLogger("choreographer").setLevel(logging.CRITICAL)  # it tells of its browser's odd messages

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--figures {folder} can't be written: {error.strerror}") from error
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
        plotly.io.write_images(plots, paths)
    except RuntimeError as error:  # what plotly makes of a browser that is missing
        raise InputError("--figures needs Chrome or Chromium (Debian: apt install chromium)") from error
    except OSError as error:
        raise InputError(f"--figures {folder} can't be written: {error.strerror}") from error
    return paths
