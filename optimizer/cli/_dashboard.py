"""`psopt dashboard`."""

from __future__ import annotations

import json
import socket
import threading
import webbrowser
from pathlib import Path
from typing import Any

import click
from psopt.cli._options import JSON
from psopt.errors import InputError


@click.command(epilog="Example: psopt dashboard runs/trec-minilm --port 8081")
@click.argument("run", type=click.Path(path_type=Path), required=False)
@click.option("--storage", metavar="URL", help="An Optuna storage in place of a run directory.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8080, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--open", "and_open", is_flag=True, help="Open it in a browser.")
@JSON
def dashboard(run: Path | None, storage: str | None, host: str, port: int, *, and_open: bool, as_json: bool) -> int:
    """Serve Optuna's dashboard on a run, until Ctrl-C."""
    import optuna_dashboard
    from psopt.search import open_storage

    if (run is None) == (storage is None):
        raise InputError("say which run: psopt dashboard RUN, or --storage URL")
    url = storage or _storage_of(run)  # type: ignore[arg-type]
    _check_free(host, port)
    kept = open_storage(url)
    address = f"http://{host}:{port}/"
    click.echo(json.dumps({"url": address}) if as_json else f"Optuna's dashboard: {address}  (Ctrl-C ends it)")
    if and_open:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    optuna_dashboard.run_server(kept, host=host, port=port, artifact_store=_artifacts_of(run))
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
