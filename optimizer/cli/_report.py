"""`psopt report`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from psopt.cli._flags import verb
from psopt.cli._options import Json, Pick, RunFolder, option

Figures = Annotated[
    Path | None,
    option(
        "Output",
        "--figures",
        "Also save every figure there as PNG and SVG (pip install 'psopt[figures]', and a Chrome or Chromium).",
        "DIR",
        file_okay=False,
    ),
]


@verb("psopt report runs/trec-minilm --figures figures")
def report(*, run: RunFolder, pick: Pick = "recommended", figures: Figures = None, as_json: Json = False) -> int:
    """Rebuild report.html from a run directory, and print where it is.

    It shows the prompt of --pick beside yours; where yours is recommended, the best that was found.
    """
    from psopt.report import save_figures, write_report
    from psopt.runs import REPORT, RunDirectory

    directory = RunDirectory.open(run)
    drawn = write_report(directory, pick)
    written = [directory.path / REPORT]
    if figures is not None:
        written += save_figures(drawn, figures)
    if as_json:
        typer.echo(json.dumps({"report": str(written[0]), "figures": [str(path) for path in written[1:]]}, indent=2))
    else:
        typer.echo("\n".join(map(str, written)))
    return 0
