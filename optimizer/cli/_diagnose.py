"""`psopt diagnose`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from psopt.cli._options import (
    dataset_options,
    lm_options,
    model_options,
    output_options,
    rephrasing_options,
    take_lm_options,
    take_rephrasing_options,
)

if TYPE_CHECKING:
    from psopt.diagnosing import PromptReport
    from psopt.scoring import Scores
    from rich.console import Console
    from rich.table import Table

_EXAMPLE = "Example: psopt diagnose --dataset tickets.csv --prompt prompt.txt --rephrasings 20"
_ROWS = 12
_LONGEST = 120


@click.command(epilog=_EXAMPLE)
@dataset_options
@click.option(
    "--prompt",
    type=click.Path(path_type=Path),
    metavar="P",
    help="A run's prompts/ID.json, or a text file with the task description [default: the strategy's].",
)
@click.option(
    "--split",
    default="train",
    show_default=True,
    type=click.Choice(["train", "val", "test", "all"]),
    help="Which samples.",
)
@model_options
@rephrasing_options
@lm_options
@output_options
def diagnose(prompt: Path | None, **options: Any) -> int:
    """Measure a prompt's sensitivity and consistency, and find the samples that shake.

    Labels are optional: without them only the sensitivity is known.
    """
    from psopt.cli._reading import reading_bar
    from psopt.diagnosing import diagnose as run_diagnosis
    from psopt.prompt_files import read_prompt
    from psopt.tasks import load_task
    from rich.console import Console

    as_json, quiet, lm = options.pop("as_json"), options.pop("quiet"), take_lm_options(options)
    words = take_rephrasing_options(options)
    data = {
        name: options.pop(name) for name in ("text_column", "label_column", "task_file", "test_file", "strict_data")
    }
    task = load_task(options.pop("dataset"), seed=options["seed"], require_labels=False, **data)
    given = read_prompt(prompt, task) if prompt else None
    if task.info.note and not (quiet or as_json):
        click.echo(f"Note: {task.info.note}", err=True)
    with reading_bar(quiet=quiet or as_json) as on_progress:
        report = run_diagnosis(task, given, lm=lm, words=words, on_progress=on_progress, **options)
    if as_json:
        click.echo(json.dumps(report.to_dict(), indent=2, ensure_ascii=False))
    elif not quiet:
        _show(Console(highlight=False), report)
    return 0


def _show(console: Console, report: PromptReport) -> None:
    n_samples, n_rephrasings = report.predictions.array.shape
    console.print(f"{n_samples} samples × {n_rephrasings} rephrasings")
    console.print(_scores(report))
    if report.scores and report.scores.per_family:
        console.print(_families(report.scores))
    if report.diagnosis.groups:
        console.print(_groups(report))
    else:
        console.print("No group of samples with a common wording stands out.")
    if report.scores is None:
        console.print("Without labels F1, consistency and the right class of a group can't be told.")
    console.print(_weakest(report))
    half, most = report.diagnosis.carried["50%"], report.diagnosis.carried["90%"]
    if half:
        console.print(f"{half} samples carry half of the whole S, {most} carry 90 %: look at these first.")


def _scores(report: PromptReport) -> Table:
    from rich.table import Table

    table = Table(title="Scores in percent", title_justify="left")
    for name in ("", "samples", "F1", "S", "C"):
        table.add_column(name, justify="right" if name else "left")
    scores, n_samples = report.scores, str(len(report.predictions.samples))
    if scores is None:
        table.add_row("all", n_samples, "–", _percent(report.sensitivity), "–")
        return table
    whole = [_with_interval(scores, name) for name in ("f1", "sensitivity", "consistency")]
    table.add_row("all", n_samples, *whole, style="bold")
    for label, of_class in scores.per_class.items():
        numbers = (of_class.f1, of_class.sensitivity, of_class.consistency)
        table.add_row(label, str(of_class.n), *(_percent(number) for number in numbers))
    return table


def _families(scores: Scores) -> Table:
    from rich.table import Table

    table = Table(title="By what is varied, in percent", title_justify="left")
    for name in ("family", "rephrasings", "F1", "S"):
        table.add_column(name, justify="left" if name == "family" else "right")
    for family, some in sorted(scores.per_family.items(), key=lambda item: -item[1].sensitivity):
        table.add_row(family, str(some.n), _percent(some.f1), _percent(some.sensitivity))
    return table


def _with_interval(scores: Scores, name: str) -> str:
    low, high = scores.ci.get(name, (None, None))
    interval = "" if low is None or high is None else f" {100 * low:.0f}–{100 * high:.0f}"
    return _percent(getattr(scores, name)) + interval


def _groups(report: PromptReport) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="What shaking or wrong samples share", title_justify="left")
    table.add_column("topic", overflow="fold", min_width=20)
    table.add_column("class", overflow="fold")
    table.add_column("taken for", overflow="fold")
    table.add_column("samples", justify="right", no_wrap=True)
    table.add_column("of S", justify="right", no_wrap=True)
    table.add_column("seen by", no_wrap=True)
    found = zip(report.diagnosis.groups, report.diagnosis.evidence, strict=True)
    for group, facts in sorted(found, key=lambda one: -one[0].need)[:_ROWS]:
        cells = [group.topic, group.label or "–", group.predicted or "–", str(len(group.samples))]
        cells += [f"{100 * facts.share:.0f} %", group.view if group.how == "phrases" else "meaning"]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _weakest(report: PromptReport) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="The most sensitive samples", title_justify="left")
    labels = report.predictions.labels
    table.add_column("S", justify="right", min_width=4)
    table.add_column("right", justify="right", min_width=5)
    table.add_column("class", overflow="ellipsis", no_wrap=True, min_width=min(16, max(map(len, labels), default=1)))
    table.add_column("text", overflow="fold")
    n_rephrasings = report.predictions.array.shape[1]
    for sample in report.diagnosis.weak["sensitivity"][:_ROWS]:
        right = "–" if sample.right is None else f"{sample.right}/{n_rephrasings}"
        table.add_row(f"{sample.sensitivity:.2f}", right, Text(sample.label or "–"), Text(_short(sample.text)))
    return table


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"
