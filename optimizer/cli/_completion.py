"""`psopt completion`."""

from __future__ import annotations

import json

import click
from psopt.cli._options import JSON

_EXAMPLE = "Example: psopt completion bash >> ~/.bashrc"


@click.command(epilog=_EXAMPLE)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@JSON
def completion(shell: str, *, as_json: bool) -> int:
    """Print what lets a shell complete psopt's commands and options.

    bash and zsh: append it to ~/.bashrc or ~/.zshrc. fish: save it as ~/.config/fish/completions/psopt.fish.
    """
    from click.shell_completion import get_completion_class
    from psopt.cli._main import cli

    made = get_completion_class(shell)
    if made is None:  # pragma: no cover  # all three are click's own
        raise click.UsageError(f"no completion for {shell}")
    script = made(cli, {}, "psopt", "_PSOPT_COMPLETE").source()
    click.echo(json.dumps({"shell": shell, "script": script}) if as_json else script)
    return 0
