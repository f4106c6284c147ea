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
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for name in ("name", "files", "what it is"):
        table.add_column(name, overflow="fold")
    for status in list_datasets():
        found = f"{status.source}: {status.path}" if status.path else "not at hand (bundled sample in its place)"
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
