"""`psopt data`: the built-in data sets."""

from dataclasses import asdict
from typing import Annotated

import typer
from psopt.cli._options import Json
from psopt.cli._tables import new_table, print_table, result_console
from psopt.cli._typer import Command
from psopt.cli._verb import commands
from psopt.cli._writing import print_json, print_result

data = commands("List and fetch the built-in data sets.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A built-in name, or hf:ORG/NAME[:CONFIG][@REV].")]


@data.command("list", cls=Command, epilog="Example: psopt data list --json")
def list_(*, as_json: Json = False) -> int:
    """List the built-in data sets, and where their files are."""
    from psopt.tasks import list_datasets

    statuses = list_datasets()
    if as_json:
        print_json([{**asdict(status), "path": status.path and str(status.path)} for status in statuses])
        return 0
    table = new_table(texts=("name", "files", "what it is"), is_narrow=False)
    for status in statuses:
        where = "not at hand: a bundled sample takes its place"
        if status.path:
            where = f"{status.source}: {status.path} ({status.n_bytes:,} bytes) {status.note}".strip()
        table.add_row(status.name, where, status.description)
    print_table(result_console(), table)
    return 0


@data.command("fetch", cls=Command, epilog="Example: psopt data fetch trec")
def fetch(*, name: Name, as_json: Json = False) -> int:
    """Download a built-in data set from its origin into the user's cache; digests are checked.

    A data set on the Hugging Face hub goes into that library's cache.
    """
    from psopt.tasks import fetch_dataset

    folder = str(fetch_dataset(name))
    print_result({"name": name, "path": folder}, folder, as_json=as_json)
    return 0
