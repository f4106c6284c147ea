"""`psopt rephrase`."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from psopt.cli._measuring import data_for, prompt_lines, read_all, read_prompts
from psopt.cli._tables import without_controls
from psopt.cli._typer import UsageError
from psopt.cli._verb import CACHE_DIR, DRY_RUN, JSON, verb
from psopt.cli._writing import print_json, write_file
from psopt.errors import InputError
from psopt.settings import (
    OUTPUT,
    PROMPT,
    DataOptions,
    LMConfig,
    MeasureOptions,
    PromptOptions,
    RephrasingOptions,
    RephrasingSizes,
    like,
)
from psopt.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psopt.rephrasings import RephrasingSet, Segment, Verdict
    from psopt.runs import PromptSource, TaskPrompt
    from psopt.tasks import Task

    Message = tuple[str, list[Segment]]
    """A message's role, and its segments."""


_NO_DATA = DataOptions("")  # --show needs none


@verb("psopt rephrase --dataset tickets.csv --rephraser openai/gpt-5.4-mini --out rephrasings.json")
def rephrase(
    *,
    data: DataOptions = _NO_DATA,
    prompt: str | None = PROMPT.first(
        "What to rephrase: your prompt, a run's prompts/ID.json, or MODULE:NAME",
        "P",
        shown_default="the task's description",
    ),
    reading: PromptOptions,
    show: bool = OUTPUT.first("Show what of --prompt is rephrased and what is kept; asks nobody.", default=False),
    sizes: RephrasingSizes,
    rephrasing: RephrasingOptions,
    lm: LMConfig,
    seed: int = like(MeasureOptions, "seed"),
    cache_dir: Path | None = CACHE_DIR,
    dry_run: bool = DRY_RUN,
    as_json: bool = JSON,
    out: Path | None = OUTPUT.first("A new file for them", "FILE", shown_default="the screen"),
) -> int:
    """Reword a prompt's instructions, check each rephrasing, and save them as a file for `--rephrasings-file`.

    In your own prompt only the instructions are rephrased: those between <rephrase> and </rephrase>, otherwise those
    that psopt finds. --show prints which.
    """
    import psopt.api as api
    from psopt.cli._plan_lines import show_estimate
    from psopt.runs import load_data

    if show and prompt is None:
        raise UsageError("--show shows what of a prompt is rephrased: give --prompt too")
    if show and out is not None:
        raise UsageError("--show writes no rephrasings: leave --out out")
    if not data.dataset and not show:
        raise UsageError("Missing option '--dataset'.")
    sources = read_prompts([prompt], reading, data.dataset)
    task = load_data(data_for(data, sources), seed, require_labels=False) if data.dataset else None
    if show or task is None:
        return _show_prompt(sources[0], task, as_json=as_json)
    if out is not None and out.exists():
        raise InputError(f"--out {out} exists: name a new file")
    original = next(iter(read_all(sources, task)), None)
    if dry_run:
        estimate = api.estimate_rephrasing(task, original, rephrasing, sizes.search + sizes.heldout)
        return show_estimate(estimate, rephrasing.rephraser or "rules", lm, as_json=as_json)
    frozen = api.rephrase(
        task,
        original,
        rephrasings=sizes.search,
        heldout=sizes.heldout,
        rephrasing=rephrasing,
        seed=seed,
        lm=lm,
        cache_dir=cache_dir,
        on_text=_say,
    )
    _hand_over(frozen, task, out, as_json=as_json)
    return 0


def _hand_over(frozen: RephrasingSet, task: Task, out: Path | None, *, as_json: bool) -> None:
    """Write the rephrasings to their file, or else to the screen, and say where they differ little."""
    from psopt.rephrasings import diversity_of, tame_note, to_file

    content = to_file(frozen)
    if out is not None:
        write_file("--out", out, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    if out is None or as_json:
        print_json(content)
    else:
        counts = f"{len(frozen.search)} search and {len(frozen.heldout)} held-out rephrasings"
        if frozen.rejected:
            counts += f", {len(frozen.rejected)} refused"
        typer.echo(f"{out}: {counts}")
    for kind, value in diversity_of(frozen, task.labels).items():
        if note := tame_note(value):
            typer.echo(f"{kind}: {note}", err=True)


def _say(verdict: Verdict) -> None:
    if not verdict.accepted:
        typer.echo(f"refused {verdict}", err=True)


def _show_prompt(source: PromptSource, task: Task | None, *, as_json: bool) -> int:
    """Show which parts of a prompt are rephrased and which are kept; without data, as far as the prompt shows it."""
    from psopt.api import prompt_to_show
    from psopt.rephrasings import shown_segments

    shown = prompt_to_show(source, task)
    segments = shown_segments(shown.prompt)
    by_message = itertools.groupby(segments, key=lambda segment: (segment.message, segment.role))
    messages = [(role, list(own)) for (_, role), own in by_message]
    if as_json:
        print_json(_as_data(str(source.path), shown, messages))
        return 0
    for line in prompt_lines(source, shown.prompt, shown.notes):
        typer.echo(line, err=True)
    if not any(segment.kind == "rephrased" for segment in segments):
        typer.echo("Nothing of it is rephrased: mark instructions with <rephrase>..</rephrase>.", err=True)
    added = len((*shown.prompt.definitions, *shown.prompt.notes, *shown.prompt.examples))
    if shown.prompt.template is not None and added:
        typer.echo(f"Left out here: {counted(added, 'edit')} added to it, the same in all rephrasings.", err=True)
    typer.echo("Rephrased: what stands between <rephrase> and </rephrase>. Edits go to {{psopt...}}.", err=True)
    typer.echo(without_controls("\n\n".join(_marked(messages))))
    return 0


def _marked(messages: Sequence[Message]) -> Iterator[str]:
    """The messages in plain text; a single one of the user needs no role."""
    from psopt.rephrasings import marked_text

    for role, segments in messages:
        text = marked_text(segments).rstrip("\n")
        is_alone = len(messages) == 1 and role == "user"
        yield text if is_alone else f"[{role}]\n{text}"


def _as_data(path: str, shown: TaskPrompt, messages: Sequence[Message]) -> dict[str, Any]:
    template = shown.prompt.template
    return {
        "prompt": path,
        "format": template.origin.format if template else "description",
        "fields": list(template.fields) if template else ["text"],
        "answer": shown.prompt.answer,
        "notes": list(shown.notes),
        "messages": [{"role": role, "content": list(map(_segment, segments))} for role, segments in messages],
    }


def _segment(segment: Segment) -> dict[str, Any]:
    data = {"text": segment.text, "kind": segment.kind}
    return data if segment.passage is None else {**data, "passage": segment.passage}
