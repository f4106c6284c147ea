"""`psopt data`: the built-in data sets."""

from __future__ import annotations

import click


@click.group()
def data() -> None:
    """List and fetch the built-in data sets."""


@data.command("list")
def list_() -> int:
    """List the built-in data sets, and where their files are."""
    from psopt.tasks import list_datasets
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for name in ("name", "files", "what it is"):
        table.add_column(name, overflow="fold")
    for status in list_datasets():
        found = "not at hand: a bundled sample takes its place"
        if status.path:
            found = f"{status.source}: {status.path} ({status.n_bytes:,} bytes) {status.note}".strip()
        table.add_row(status.name, found, status.description)
    Console(highlight=False).print(table)
    return 0


@data.command("fetch")
@click.argument("name")
def fetch(name: str) -> int:
    """Download a built-in data set from its origin into the user's cache; digests are checked."""
    from psopt.tasks import fetch_dataset

    click.echo(str(fetch_dataset(name)))
    return 0
