"""What of a prompt is rephrased, on the screen: in colours, or between marks where there are none."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import typer
from psopt.cli._prompts import prompt_lines
from psopt.cli._writing import print_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psopt.api import ShownPrompt
    from psopt.runs import PromptSource
    from psopt.tasks import Task
    from psopt.templates import Segment
    from rich.console import Console
    from rich.text import Text

_STYLES = {"rephrased": "bold green", "kept": "dim", "field": "cyan", "slot": "magenta"}
_MEANINGS = {"rephrased": "rephrased", "kept": "kept", "field": "field of the data", "slot": "place for edits"}


def show_prompt(source: PromptSource, task: Task | None, *, as_json: bool) -> int:
    """Show what of a prompt is rephrased and what is kept; without data as far as the prompt itself says it."""
    from psopt.api import show_prompt as run_show
    from rich.console import Console

    shown = run_show(source, task)
    if as_json:
        print_json(_as_data(str(source.path), shown))
        return 0
    console = Console(highlight=False)
    for line in prompt_lines(source, shown.prompt, shown.notes):
        typer.echo(line, err=True)
    if not any(segment.kind == "rephrased" for segment in shown.segments):
        typer.echo("Nothing of it is rephrased: mark instructions with <rephrase>..</rephrase>.", err=True)
    added = len((*shown.prompt.definitions, *shown.prompt.notes, *shown.prompt.examples))
    if shown.prompt.template is not None and added:
        typer.echo(f"What was added to it ({added} edits) is the same in all rephrasings, and left out here.", err=True)
    if console.color_system is None or console.no_color:
        _show_marked(shown.segments)
    else:
        _show_coloured(console, shown.segments)
    return 0


def _messages(stretches: Sequence[Segment]) -> Iterator[tuple[str, list[Segment]]]:
    """Each message's role and stretches."""
    for (_, role), own in itertools.groupby(stretches, key=lambda stretch: (stretch.message, stretch.role)):
        yield role, list(own)


def _show_marked(stretches: Sequence[Segment]) -> None:
    from psopt.rephrasings import marked_text

    typer.echo("Rephrased: what stands between <rephrase> and </rephrase>. Edits go to {{psopt...}}.", err=True)
    messages = list(_messages(stretches))
    for number, (role, own) in enumerate(messages):
        if len(messages) > 1 or role != "user":
            typer.echo(f"{'' if number == 0 else chr(10)}[{role}]")
        typer.echo(marked_text(own).rstrip("\n"))


def _show_coloured(console: Console, stretches: Sequence[Segment]) -> None:
    from rich.text import Text

    console.print(Text("  ").join(Text(meaning, _STYLES[kind]) for kind, meaning in _MEANINGS.items()))
    for role, own in _messages(stretches):
        console.print()
        console.print(Text(f"[{role}]", "bold"))
        console.print(_coloured(own))


def _coloured(stretches: Sequence[Segment]) -> Text:
    from rich.text import Text

    text = Text.assemble(*((stretch.text, _STYLES[stretch.kind]) for stretch in stretches))
    text.rstrip()
    return text


def _as_data(path: str, shown: ShownPrompt) -> dict[str, Any]:
    template = shown.prompt.template
    return {
        "prompt": path,
        "format": template.origin.format if template else "description",
        "fields": list(template.fields) if template else ["text"],
        "answer": shown.prompt.answer,
        "notes": list(shown.notes),
        "messages": [
            {"role": role, "content": [_stretch_data(stretch) for stretch in own]}
            for role, own in _messages(shown.segments)
        ],
    }


def _stretch_data(stretch: Segment) -> dict[str, Any]:
    data: dict[str, Any] = {"text": stretch.text, "kind": stretch.kind}
    return data if stretch.passage is None else {**data, "passage": stretch.passage}
