"""`psopt skill`."""

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from psopt.cli._options import Json
from psopt.cli._verb import flag, verb
from psopt.cli._writing import print_json, write_file
from psopt.errors import InputError

Out = Annotated[Path | None, flag("Output", "Write it to this file, and make its folder.", "FILE")]


@verb("psopt skill --out .claude/skills/psopt/SKILL.md")
def skill(*, out: Out = None, as_json: Json = False) -> int:
    """Print what a coding agent should know to run psopt well: a skill file in Markdown."""
    text = files("psopt.cli").joinpath("SKILL.md").read_text("utf-8")
    if out is not None:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--out: the folder {out.parent} can't be made: {error.strerror}") from error
        write_file("--out", out, text)
    if as_json:
        print_json({"file": out and str(out), "text": text})
    elif out is None:
        typer.echo(text, nl=False)
    else:
        typer.echo(str(out))
    return 0
