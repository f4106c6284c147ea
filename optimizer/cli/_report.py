"""Pages on runs: `psopt report` writes them, `psopt dashboard` serves Optuna's."""

from __future__ import annotations

import contextlib
import re
import threading
import warnings
import webbrowser
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Annotated, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import typer
from psopt.cli._tables import new_table, print_sentences, print_table, result_console
from psopt.cli._verb import JSON, PICK, RunFolder, verb
from psopt.cli._writing import check_writable, print_json, print_result, write_file
from psopt.errors import InputError
from psopt.settings import OUTPUT, SEARCH

if TYPE_CHECKING:
    from psopt.report import ComparedRuns, Figure
    from rich.console import Console

Others = Annotated[
    list[Path] | None, typer.Argument(metavar="OTHER ..", help="Up to four other runs, to compare with the first.")
]
_MOST_RUNS = 5  # more columns and colours are hard to distinguish
Run = Annotated[Path | None, typer.Argument(metavar="RUN", help="A run directory.")]


@verb("psopt report runs/trec-minilm --figures figures")
def report(
    *,
    run: RunFolder,
    others: Others = None,
    pick: str = PICK,
    figures: Path | None = OUTPUT.first(
        "Also save every figure there as PNG, SVG and PDF (pip install 'psopt[figures]', and a Chrome or Chromium).",
        "DIR",
    ),
    html: Path | None = OUTPUT.first(
        "Write the page of several runs there.", "FILE", shown_default="OTHER/against-RUN.html"
    ),
    as_json: bool = JSON,
) -> int:
    """Rebuild report.html from a run directory, and print where it is; or compare two to five runs.

    It shows the prompt of --pick next to the original one; if the original is recommended, the best one found. For
    several runs it shows what each recommends, and tests each against the first on their common test samples, with one
    figure and a table to copy. No model is asked.
    """
    from psopt.report import save_figures, write_report
    from psopt.runs import REPORT, RunDirectory

    if figures is not None and figures.exists() and not figures.is_dir():
        raise InputError(f"--figures {figures} is a file: name a folder")
    if others:
        data, page, drawn = _compare([run, *others], pick, html, is_shown=not as_json)
    elif html is not None:
        raise InputError("--html is of several runs: the page of one is its report.html")
    else:
        directory = RunDirectory.open(run)
        data, page, drawn = {}, directory.path / REPORT, write_report(directory, pick)
    saved = list(map(str, save_figures(drawn, figures) if figures else []))
    if as_json:
        print_json({**data, "report": str(page), "figures": saved})
    else:
        typer.echo("\n".join([str(page), *saved]))
    return 0


def _compare(
    runs: list[Path], pick: str, html: Path | None, *, is_shown: bool
) -> tuple[dict[str, Any], Path, list[Figure]]:
    """Compare runs and write their page; returns what `--json` prints, the page, and its figures."""
    from psopt.report import compare_runs
    from psopt.runs import RunDirectory

    if len(runs) > _MOST_RUNS:
        raise InputError(f"{len(runs)} runs are too many for one page: give {_MOST_RUNS} at most")
    directories = [RunDirectory.open(run) for run in runs]
    first_name = re.sub(r"[^\w.-]+", "-", directories[0].path.resolve().name) or "run"
    page_path = html or directories[-1].path / f"against-{first_name}.html"
    check_writable("--html", page_path)
    compared = compare_runs(directories, pick)
    page, drawn = compared.page()
    write_file("--html", page_path, page)
    if is_shown:
        _show(result_console(), compared)
    return compared.to_dict(), page_path, drawn


def _show(console: Console, compared: ComparedRuns) -> None:
    from psopt.text import percent

    by_name = dict(zip(compared.names, compared.runs, strict=True))
    columns = [*compared.measures.values(), "tokens per call"]
    title = "On test, in percent: original prompt -> prompt"
    table = new_table(title, texts=["run"], numbers=columns, is_narrow=False)
    for name, run in by_name.items():
        before, after = run.run["baseline"]["test"], run.chosen["test"]
        cells = [f"{percent(before[measure])} -> {percent(after[measure])}" for measure in compared.measures]
        table.add_row(name, *cells, f"{run.call.tokens:,}")
    print_table(console, table)
    print_sentences(console, [pair.sentence for pair in compared.pairs])
    print_sentences(console, [f"{name}: {run.recommendation[0]}" for name, run in by_name.items()])


@verb("psopt dashboard runs/trec-minilm --port 8081")
def dashboard(
    *,
    run: Run = None,
    storage: str | None = SEARCH.first("An Optuna storage in place of a run directory.", "URL"),
    host: str = OUTPUT.first("Address to listen on.", "ADDRESS", "127.0.0.1"),
    port: int = OUTPUT.first("Port to listen on.", "N", 8080, least=1, most=65535),
    and_open: bool = OUTPUT.first("Open it in a browser.", default=False, flags="--open"),
    as_json: bool = JSON,
) -> int:
    """Serve Optuna's dashboard on a run, until Ctrl-C.

    The study's note says what is optimized, which trial to use and how to export it.
    """
    import optuna_dashboard
    from psopt.runs import MANIFEST, RunDirectory
    from psopt.search.distributed import open_storage

    if (run is None) == (storage is None):
        raise InputError("say which run: psopt dashboard RUN, or --storage URL")
    url = storage
    if run is not None:
        directory = RunDirectory.open(run)
        url = directory.read_json(MANIFEST)["settings"]["storage"] or directory.storage_url
    study_storage = open_storage(str(url), is_there=True)
    # Optuna's importances warn about each parameter with few trials, at every refresh.
    warnings.filterwarnings("ignore", category=UserWarning, module="optuna")
    try:
        server = make_server(
            host, port, optuna_dashboard.wsgi(study_storage), server_class=_Threaded, handler_class=_Silent
        )
    except OSError as error:
        raise InputError(f"can't listen on {host}:{port}: {error.strerror}; try --port {port % 65535 + 1}") from error
    address = f"http://{host}:{port}/"
    print_result({"url": address}, f"Optuna's dashboard: {address}  (Ctrl-C ends it)", as_json=as_json)
    if and_open:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    with server, contextlib.suppress(KeyboardInterrupt):  # which is how it ends
        server.serve_forever()
    return 0


class _Threaded(ThreadingMixIn, WSGIServer):
    """Answers each request in its own thread: wsgiref takes Ctrl-C during an answer for a failure of that answer."""

    daemon_threads = True


class _Silent(WSGIRequestHandler):
    """Handles requests without logging each on standard error."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its name in the standard library
        """Say nothing."""
