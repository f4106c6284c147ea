"""`psopt export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from psopt.errors import InputError

if TYPE_CHECKING:
    from psopt.prompts import Prompt

_LEAST_OF_AN_ID = 4
_EXAMPLE = "Example: psopt export runs/trec-minilm --pick sensitivity --format json > prompt.json"


@click.command(epilog=_EXAMPLE)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--pick",
    "which",
    default="knee",
    show_default=True,
    metavar="WHICH",
    help="knee, short, f1, sensitivity, consistency, or a prompt's id.",
)
@click.option(
    "--format",
    "form",
    default="text",
    show_default=True,
    type=click.Choice(["json", "text", "dspy", "openai"]),
    help="text to paste, json to use with psopt, dspy for program.load(), openai for chat messages.",
)
def export(run: Path, which: str, form: str) -> int:
    """Print a prompt of the front: as text to paste, or as JSON to use elsewhere.

    The format dspy is the state of a program that `program.load()` takes: of the program that was optimized, or of a
    dspy.Predict with the samples' noun as input and `label` as output. In the format openai {text} stands for the text.
    """
    from psopt.prompts import Prompt, render, render_instructions
    from psopt.runs import FRONT, RunDirectory, pick_entry

    directory = RunDirectory.open(run)
    if not (directory.path / FRONT).exists():
        raise InputError(f"{run} has no front yet: go on with `psopt resume {run}`")
    found = directory.read_json(FRONT)
    short = found.get("short")
    chosen = which == "short" or (short and len(which) >= _LEAST_OF_AN_ID and short["id"].startswith(which))
    entry = short if short and chosen else pick_entry(found["prompts"], "knee" if which == "short" else which)
    prompt = Prompt.from_dict(entry["prompt"])
    if form == "dspy":
        click.echo(_program_state(directory.path, prompt))
    elif form == "openai":
        click.echo(json.dumps(render(prompt, "{text}"), indent=2, ensure_ascii=False))
    elif form == "json":
        click.echo(json.dumps(prompt.to_dict(), indent=2, ensure_ascii=False))
    else:
        click.echo(render_instructions(prompt))
    return 0


def _program_state(run: Path, prompt: Prompt) -> str:
    from psopt.programs import PROGRAMS, predict_state

    kept = run / PROGRAMS / f"{prompt.id}.json"
    if kept.is_file():
        return kept.read_text("utf-8").rstrip()
    return json.dumps(predict_state(prompt), indent=2, ensure_ascii=False)
