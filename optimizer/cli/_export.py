"""`psopt export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from psopt.cli._front_entry import read_entry
from psopt.cli._writing import as_json_text, print_json

if TYPE_CHECKING:
    from psopt.search_spaces import Prompt

_EXAMPLE = "Example: psopt export runs/trec-minilm --pick sensitivity --format json > prompt.json"


@click.command(epilog=_EXAMPLE)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--pick",
    "which",
    default="knee",
    show_default=True,
    metavar="WHICH",
    help="knee, short, f1, sensitivity, consistency, a prompt's id, or 'max F1 with S <= .05' and the like.",
)
@click.option(
    "--format",
    "form",
    default="text",
    show_default=True,
    type=click.Choice(["json", "text", "dspy", "openai"]),
    help="text to paste, json to use with psopt, dspy for program.load(), openai for chat messages.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the prompt with its edits and scores as JSON.")
def export(run: Path, which: str, form: str, *, as_json: bool) -> int:
    """Print a prompt of the front: as text to paste, or as JSON to use elsewhere.

    The format dspy is the state of a program that `program.load()` takes: of the program that was optimized, or of a
    dspy.Predict with the samples' noun as input and `label` as output. In the format openai {text} stands for the text.
    """
    from psopt.search_spaces import Prompt, render_instructions

    entry = read_entry(run, which)
    prompt = Prompt.from_dict(entry["prompt"])
    if as_json:
        whole = {"run": str(run), **entry, "text": render_instructions(prompt)}
        print_json(whole)
    elif form == "json":
        print_json({**prompt.to_dict(), "measured": entry["measured"]})
    else:
        click.echo(_in_form(run, prompt, form))
    return 0


def _in_form(run: Path, prompt: Prompt, form: str) -> str:
    from psopt.search_spaces import render, render_instructions

    if form == "dspy":
        return _program_state(run, prompt)
    if form == "openai":
        return as_json_text(render(prompt, "{text}"))
    return render_instructions(prompt)


def _program_state(run: Path, prompt: Prompt) -> str:
    from psopt.dspy_programs import PROGRAMS, predict_state

    kept = run / PROGRAMS / f"{prompt.id}.json"
    if kept.is_file():
        return as_json_text(json.loads(kept.read_text("utf-8")))
    return as_json_text(predict_state(prompt))
