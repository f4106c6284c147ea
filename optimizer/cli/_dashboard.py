"""`psopt dashboard`."""

from __future__ import annotations

import socket
import threading
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer
from psopt.cli._options import Json
from psopt.cli._verb import flag, verb
from psopt.cli._writing import print_json
from psopt.errors import InputError

Run = Annotated[Path | None, typer.Argument(metavar="RUN", help="A run directory.")]
Storage = Annotated[str | None, flag("Search", "--storage", "An Optuna storage in place of a run directory.", "URL")]
Host = Annotated[str, flag("Output", "--host", "Address to listen on.", "ADDRESS")]
Port = Annotated[int, flag("Output", "--port", "Port to listen on.", "N", min=1, max=65535)]
Open = Annotated[bool, flag("Output", "--open", "Open it in a browser.")]


@verb("psopt dashboard runs/trec-minilm --port 8081")
def dashboard(
    *,
    run: Run = None,
    storage: Storage = None,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    and_open: Open = False,
    as_json: Json = False,
) -> int:
    """Serve Optuna's dashboard on a run, until Ctrl-C.

    The study's note says what is optimized, which trial to use and how to export it; that trial alone bears a badge.
    """
    from psopt.cli._dashboard_server import serve
    from psopt.search import open_storage

    if (run is None) == (storage is None):
        raise InputError("say which run: psopt dashboard RUN, or --storage URL")
    url = storage or _storage_of(run)  # type: ignore[arg-type]
    _check_free(host, port)
    opened = open_storage(url)
    address = f"http://{host}:{port}/"
    if as_json:
        print_json({"url": address}, indent=None)
    else:
        typer.echo(f"Optuna's dashboard: {address}  (Ctrl-C ends it)")
    if and_open:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    serve(opened, host, port, _artifacts_of(run))
    return 0


def _artifacts_of(run: Path | None) -> Any:
    """The run's artifacts, where there are any."""
    from optuna.artifacts import FileSystemArtifactStore
    from psopt.runs import ARTIFACTS

    folder = run / ARTIFACTS if run else None
    return FileSystemArtifactStore(str(folder)) if folder and folder.is_dir() else None


def _storage_of(run: Path) -> str:
    from psopt.runs import MANIFEST, RunDirectory

    directory = RunDirectory.open(run)
    return directory.read_json(MANIFEST)["settings"]["storage"] or directory.storage_url


def _check_free(host: str, port: int) -> None:
    try:
        with socket.create_server((host, port)):
            pass
    except OSError as error:
        raise InputError(f"can't listen on {host}:{port}: {error.strerror}; try --port {port % 65535 + 1}") from error
