"""`psopt diagnose`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from psopt.cli._diagnosis_tables import blocks_table, families_table, groups_table, scores_table, weakest_table
from psopt.cli._dry_run import DRY_RUN, show_estimate
from psopt.cli._options import (
    dataset_options,
    lm_options,
    output_options,
    prompt_model_options,
    rephrasing_options,
    take_lm_options,
    take_rephrasing_options,
)
from psopt.cli._writing import print_json, write_file
from psopt.evaluation import na_lines

if TYPE_CHECKING:
    from psopt.api import PromptReport
    from rich.console import Console

_EXAMPLE = "Example: psopt diagnose --dataset tickets.csv --prompt prompt.txt --model openai/gpt-4o-mini"


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
@prompt_model_options
@rephrasing_options
@lm_options
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write a page with the paper's figures; opens offline.",
)
@DRY_RUN
@output_options
def diagnose(prompt: Path | None, html: Path | None, *, dry_run: bool, **options: Any) -> int:
    """Measure a prompt's sensitivity and consistency, and find the samples that shake.

    Labels are optional: without them only the sensitivity is known. A prompt of a run is measured with the run's model,
    server and options, unless others are named.
    """
    from psopt.api import MeasureOptions, estimate_measuring
    from psopt.api import diagnose as run_diagnosis
    from psopt.cli._model_choice import choose_model
    from psopt.cli._reading import reading_bar
    from psopt.runs import read_source
    from psopt.search_spaces import seed_prompt
    from psopt.tasks import load_task
    from rich.console import Console

    as_json, quiet = options.pop("as_json"), options.pop("quiet")
    source = read_source(prompt) if prompt else None
    words = take_rephrasing_options(options)
    data = {
        name: options.pop(name) for name in ("text_column", "label_column", "task_file", "test_file", "strict_data")
    }
    task = load_task(options.pop("dataset"), seed=options["seed"], require_labels=False, **data)
    given = source.for_task(task) if source else None
    if task.info.note and not (quiet or as_json):
        click.echo(f"Note: {task.info.note}", err=True)
    choice = choose_model(options, [source] if source else [], silent=quiet or as_json)
    take_lm_options(options)
    if dry_run:
        measured = MeasureOptions(
            lm=choice.lm,
            words=words,
            **{name: options[name] for name in ("rephrasings", "split", "samples", "seed", "cache_dir")},
        )
        named = {"": given or seed_prompt(task, options["strategy"], seed=options["seed"])}
        return show_estimate(
            estimate_measuring(task, named, [choice.model], measured), choice.model, choice.lm, as_json=as_json
        )
    with reading_bar(quiet=quiet or as_json) as on_progress:
        report = run_diagnosis(
            task, given, model=choice.model, lm=choice.lm, words=words, on_progress=on_progress, **options
        )
    if html is not None:
        from psopt.report import diagnosis_page

        page = diagnosis_page(report, task.name, choice.model, options["split"], task.info.note, options["seed"])
        write_file("--html", html, page)
    if as_json:
        print_json({**choice.to_dict(), **report.to_dict()})
    elif not quiet:
        _show(Console(highlight=False), report)
        if html is not None:
            click.echo(f"Page: {html}")
    return 0


def _show(console: Console, report: PromptReport) -> None:
    n_samples, n_rephrasings = report.predictions.array.shape
    console.print(f"{n_samples} samples × {n_rephrasings} rephrasings")
    console.print(scores_table(report))
    for line in na_lines(report.measured()):
        console.print(line, style="yellow", markup=False, soft_wrap=True)
    if report.scores and report.scores.per_family:
        console.print(families_table(report.scores))
    if report.diagnosis.groups:
        console.print(groups_table(report))
    else:
        console.print("No group of samples with a common wording stands out.")
    if any(block.answered != block.label for block in report.diagnosis.blocks):
        console.print(blocks_table(report))
    if report.scores is None:
        console.print("Without labels F1, consistency and the right class of a group can't be told.")
    console.print(weakest_table(report))
    half, most = report.diagnosis.carried["50%"], report.diagnosis.carried["90%"]
    if half:
        console.print(f"{half} samples carry half of the whole S, {most} carry 90 %: look at these first.")
