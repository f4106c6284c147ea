"""`psopt export`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from psopt.cli._flags import verb
from psopt.cli._options import RunFolder, option
from psopt.cli._writing import as_json_text, print_json

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.search_spaces import Prompt

Pick = Annotated[
    str,
    option(
        "Prompt",
        "--pick",
        "knee, short, f1, sensitivity, consistency, a prompt's id, or 'max F1 with S <= .05' and the like.",
        "WHICH",
    ),
]
FormatName = Literal["json", "text", "dspy", "openai"]
Format = Annotated[
    FormatName,
    option(
        "Output",
        "--format",
        "text to paste, json to use with psopt, dspy for program.load(), openai for chat messages.",
    ),
]
Json = Annotated[bool, option("Output", "--json", "Print the prompt with its edits and scores as JSON.")]


@verb("psopt export runs/trec-minilm --pick sensitivity --format json > prompt.json")
def export(*, run: RunFolder, pick: Pick = "knee", form: Format = "text", as_json: Json = False) -> int:
    """Print a prompt of the front: as text to paste, or as JSON to use elsewhere.

    The format dspy is the state of a program that `program.load()` takes: of the program that was optimized, or of a
    dspy.Predict with the samples' noun as input and `label` as output. In the format openai {text} stands for the text.
    """
    from psopt.runs import read_entry
    from psopt.search_spaces import Prompt, render_instructions

    entry = read_entry(run, pick)
    prompt = Prompt.from_dict(entry["prompt"])
    if as_json:
        print_json({"run": str(run), **entry, "text": render_instructions(prompt)})
    elif form == "json":
        print_json({**prompt.to_dict(), "measured": entry["measured"]})
    else:
        typer.echo(_in_form(run, prompt, form))
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

    state = run / PROGRAMS / f"{prompt.id}.json"
    if state.is_file():
        return as_json_text(json.loads(state.read_text("utf-8")))
    return as_json_text(predict_state(prompt))
