"""`psopt schema`."""

from __future__ import annotations

from typing import Annotated

import typer
from psopt.cli._options import Json
from psopt.cli._verb import verb
from psopt.cli._writing import as_json_text, print_json
from psopt.settings import config_schema

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", help="A command or file, config for what --config takes; without one, all are listed."
    ),
]


@verb("psopt schema diagnose > diagnose.schema.json")
def schema(*, name: Name = None, as_json: Json = False) -> int:
    """Print the JSON Schema of what a command prints with --json, or of a run's run.json and front.json."""
    from psopt.cli._json_schemas import outputs, schema_of

    if name == "config":
        typer.echo(as_json_text(config_schema()))
    elif name is not None:
        typer.echo(as_json_text(schema_of(name)))
    elif as_json:
        print_json({"names": outputs()})
    else:
        typer.echo("\n".join(outputs()))
    return 0
