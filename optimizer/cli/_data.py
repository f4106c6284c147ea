"""`psopt data`: the built-in data sets."""

from __future__ import annotations

import json
from dataclasses import asdict

import click
from psopt.cli._options import JSON


@click.group()
def data() -> None:
    """List and fetch the built-in data sets."""


@data.command("list", epilog="Example: psopt data list --json")
@JSON
def list_(*, as_json: bool) -> int:
    """List the built-in data sets, and where their files are."""
    from psopt.tasks import list_datasets
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    if as_json:
        found = [{**asdict(one), "path": str(one.path) if one.path else None} for one in list_datasets()]
        click.echo(json.dumps(found, indent=2))
        return 0
    table = Table(box=SIMPLE_HEAD)
    for name in ("name", "files", "what it is"):
        table.add_column(name, overflow="fold")
    for status in list_datasets():
        where = "not at hand: a bundled sample takes its place"
        if status.path:
            where = f"{status.source}: {status.path} ({status.n_bytes:,} bytes) {status.note}".strip()
        table.add_row(status.name, where, status.description)
    Console(highlight=False).print(table)
    return 0


@data.command("fetch", epilog="Example: psopt data fetch trec")
@click.argument("name")
@JSON
def fetch(name: str, *, as_json: bool) -> int:
    """Download a built-in data set from its origin into the user's cache; digests are checked."""
    from psopt.tasks import fetch_dataset

    folder = str(fetch_dataset(name))
    click.echo(json.dumps({"name": name, "path": folder}) if as_json else folder)
    return 0
