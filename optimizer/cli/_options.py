"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

Decorator = "Callable[[Callable[..., Any]], Callable[..., Any]]"


def dataset_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--dataset and what says how to read it."""
    options = [
        click.option(
            "--dataset",
            required=True,
            metavar="D",
            help="A built-in name (psopt data list) or a .csv .tsv .jsonl .parquet or task .toml file.",
        ),
        click.option("--text-column", metavar="NAME", help="Column that holds the texts."),
        click.option("--label-column", metavar="NAME", help="Column that holds the labels."),
        click.option(
            "--task-file",
            type=click.Path(path_type=Path),
            metavar="TOML",
            help="Task file: description, labels, definitions.",
        ),
        click.option(
            "--test-file", type=click.Path(path_type=Path), metavar="FILE", help="Test samples in a file of their own."
        ),
        click.option("--strict-data", is_flag=True, help="Fail rather than use the bundled sample."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--model, how it is asked, and where its work is kept."""
    options = [
        click.option("--model", default="minilm", show_default=True, metavar="M", help="The model that classifies."),
        click.option(
            "--strategy",
            default="simple",
            show_default=True,
            metavar="S",
            help="Seed prompt: simple, detail or 1-shot.",
        ),
        click.option(
            "--rephrasings",
            default=10,
            show_default=True,
            type=click.IntRange(1),
            metavar="Q",
            help="How many wordings of the description, the original among them.",
        ),
        click.option(
            "--samples",
            default=500,
            show_default=True,
            type=click.IntRange(2),
            metavar="N",
            help="At most so many samples a split; test is used whole.",
        ),
        click.option(
            "--seed", default=42, show_default=True, type=click.IntRange(0), help="Seeds everything that is drawn."
        ),
        click.option(
            "--cache-dir",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="DIR",
            help="Where answers are kept [default: $PSOPT_CACHE_DIR or the user's cache].",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--json and --quiet."""
    options = [
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and nothing else."),
        click.option("--quiet", is_flag=True, help="Print nothing but errors."),
    ]
    for option in reversed(options):
        command = option(command)
    return command
