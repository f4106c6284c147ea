"""`psopt report`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from psopt.cli._options import Json, Pick, RunFolder
from psopt.cli._verb import flag, verb
from psopt.cli._writing import check_writable, print_json, write_file

if TYPE_CHECKING:
    from psopt.report import Figure, TwoRuns
    from rich.console import Console

Other = Annotated[Path | None, typer.Argument(metavar="OTHER", help="Another run, to compare with the first.")]
Figures = Annotated[
    Path | None,
    flag(
        "Output",
        "--figures",
        "Also save every figure there as PNG, SVG and PDF (pip install 'psopt[figures]', and a Chrome or Chromium).",
        "DIR",
        file_okay=False,
    ),
]
Html = Annotated[
    Path | None,
    flag("Output", "--html", "Write the page of two runs there.", "FILE", show_default="OTHER/against-RUN.html"),
]


@verb("psopt report runs/trec-minilm --figures figures")
def report(
    *,
    run: RunFolder,
    other: Other = None,
    pick: Pick = "recommended",
    figures: Figures = None,
    html: Html = None,
    as_json: Json = False,
) -> int:
    """Rebuild report.html from a run directory, and print where it is; or compare two runs.

    It shows the prompt of --pick beside yours; where yours is recommended, the best that was found. Of two runs it
    shows what each hands back, and tests the second's against the first's on the test samples that both have. Nothing
    is asked.
    """
    from psopt.errors import InputError

    if other is not None:
        return _compare(run, other, pick, figures, html, as_json=as_json)
    if html is not None:
        raise InputError("--html is of two runs: the page of one is its report.html")
    from psopt.report import write_report
    from psopt.runs import REPORT, RunDirectory

    directory = RunDirectory.open(run)
    drawn = write_report(directory, pick)
    written = [directory.path / REPORT, *_saved(drawn, figures)]
    if as_json:
        print_json({"report": str(written[0]), "figures": [str(path) for path in written[1:]]})
    else:
        typer.echo("\n".join(map(str, written)))
    return 0


def _saved(drawn: list[Figure], folder: Path | None) -> list[Path]:
    from psopt.report import save_figures

    return [] if folder is None else save_figures(drawn, folder)


def _compare(run: Path, other: Path, pick: str, figures: Path | None, html: Path | None, *, as_json: bool) -> int:
    from psopt.cli._tables import result_console
    from psopt.report import compare_runs, runs_page
    from psopt.runs import RunDirectory

    first, second = RunDirectory.open(run), RunDirectory.open(other)
    page_path = html or second.path / f"against-{_file_name(first.path)}.html"
    check_writable("--html", page_path)
    compared = compare_runs(first, second, pick)
    page, drawn = runs_page(compared)
    write_file("--html", page_path, page)
    saved = _saved(drawn, figures)
    if as_json:
        print_json({**compared.to_dict(), "report": str(page_path), "figures": [str(path) for path in saved]})
        return 0
    _show(result_console(), compared)
    typer.echo("\n".join(map(str, [page_path, *saved])))
    return 0


def _file_name(folder: Path) -> str:
    """A run's folder as a part of a file's name."""
    return re.sub(r"[^\w.-]+", "-", folder.resolve().name) or "run"


def _show(console: Console, runs: TwoRuns) -> None:
    from psopt.cli._tables import print_sentences, print_table
    from psopt.report import measure_rows, names_of
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    names = names_of(runs)
    table = Table(box=SIMPLE_HEAD, title="On test, in percent: original prompt -> prompt", title_justify="left")
    table.add_column("")
    for name in (*names, "difference"):
        table.add_column(Text(name), justify="right", overflow="fold")
    for row in measure_rows(runs):
        cells = [_cell(scores, row["measure"]) for scores in row["runs"]]
        difference = row["difference"]
        ahead = f"{100 * difference.difference:+.1f} {row['verdict']}" if difference else "–"
        table.add_row(row["name"], *cells, ahead)
    tokens = [shown.call.tokens for shown in (runs.first, runs.second)]
    table.add_row("tokens a call", *(f"{n:,}" for n in tokens), f"{tokens[1] - tokens[0]:+,}")
    print_table(console, table)
    told = [f"{name}: {shown.sentence}" for name, shown in zip(names, (runs.first, runs.second), strict=True)]
    print_sentences(console, [*runs.sentences, *told])


def _cell(scores: dict[str, dict[str, float]], measure: str) -> str:
    return " -> ".join(f"{100 * scores[which][measure]:.1f}" for which in ("baseline", "chosen"))
