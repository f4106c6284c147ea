"""`psopt report`."""

from __future__ import annotations

import json
from pathlib import Path

import click
from psopt.cli._options import JSON


@click.command(epilog="Example: psopt report runs/trec-minilm --figures figures")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Also save every figure there as PNG and SVG (pip install 'psopt[figures]', and a Chrome or Chromium).",
)
@JSON
def report(run: Path, figures: Path | None, *, as_json: bool) -> int:
    """Rebuild report.html from a run directory, and print where it is."""
    from psopt.report import save_figures, write_report
    from psopt.runs import REPORT, RunDirectory

    directory = RunDirectory.open(run)
    drawn = write_report(directory)
    written = [directory.path / REPORT]
    if figures is not None:
        written += save_figures(drawn, figures)
    if as_json:
        click.echo(json.dumps({"report": str(written[0]), "figures": [str(path) for path in written[1:]]}, indent=2))
    else:
        click.echo("\n".join(map(str, written)))
    return 0
