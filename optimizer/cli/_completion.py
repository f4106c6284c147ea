"""`psopt completion`."""

from typing import Annotated, Literal

import typer
from psopt.cli._options import Json
from psopt.cli._typer import script_for
from psopt.cli._verb import verb
from psopt.cli._writing import print_result

Shell = Annotated[
    Literal["bash", "zsh", "fish", "powershell"], typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")
]


@verb("psopt completion bash >> ~/.bashrc")
def completion(*, shell: Shell, as_json: Json = False) -> int:
    """Print what lets a shell complete psopt's commands and options.

    bash and zsh: append it to ~/.bashrc or ~/.zshrc. fish: save it as ~/.config/fish/completions/psopt.fish.
    PowerShell: append it to $PROFILE.
    """
    script = script_for(shell)
    print_result({"shell": shell, "script": script}, script, as_json=as_json)
    return 0
