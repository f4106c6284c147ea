"""`psopt report`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(epilog="Example: psopt report runs/trec-minilm")
@click.argument("run", type=click.Path(path_type=Path))
def report(run: Path) -> int:
    """Rebuild report.html from a run directory."""
    from psopt.report import write_report
    from psopt.runs import REPORT, RunDirectory

    directory = RunDirectory.open(run)
    write_report(directory)
    click.echo(str(directory.path / REPORT))
    return 0
