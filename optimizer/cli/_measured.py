"""What commands that measure a prompt have in common: their options, and reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from psopt.cli._options import take_lm_options, take_rephrasing_options

if TYPE_CHECKING:
    from psopt.api import MeasureOptions
    from psopt.tasks import Task

SPLIT = click.option(
    "--split",
    default="test",
    show_default=True,
    type=click.Choice(["train", "val", "test", "all"]),
    help="Which samples; on test the rephrasings are held-out ones.",
)


def take_task(options: dict[str, Any], *, require_labels: bool, quiet: bool) -> Task:
    """Take a command's data options out of its options, and load the task."""
    from psopt.tasks import load_task

    names = ("text_column", "label_column", "task_file", "test_file", "strict_data")
    data = {name: options.pop(name) for name in names}
    task = load_task(options.pop("dataset"), seed=options["seed"], require_labels=require_labels, **data)
    if task.info.note and not quiet:
        click.echo(f"Note: {task.info.note}", err=True)
    return task


def take_measure_options(options: dict[str, Any]) -> MeasureOptions:
    """Take what a prompt is measured on out of a command's options."""
    from psopt.api import MeasureOptions

    lm, words = take_lm_options(options), take_rephrasing_options(options)
    names = ("rephrasings", "split", "samples", "seed", "cache_dir")
    return MeasureOptions(lm=lm, words=words, **{name: options.pop(name) for name in names})
