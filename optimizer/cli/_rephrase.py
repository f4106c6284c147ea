"""`psopt rephrase`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from psopt.cli._dry_run import DRY_RUN, show_estimate
from psopt.cli._options import (
    JSON,
    dataset_options,
    lm_options,
    rephrasing_options,
    take_lm_options,
    take_rephrasing_options,
)
from psopt.cli._writing import print_json, write_file
from psopt.errors import InputError

if TYPE_CHECKING:
    from psopt.rephrasings import Verdict

_EXAMPLE = "Example: psopt rephrase --dataset tickets.csv --rephraser openai/gpt-4o-mini --out rephrasings.json"


@click.command(epilog=_EXAMPLE)
@dataset_options
@click.option(
    "--prompt",
    type=click.Path(path_type=Path),
    metavar="P",
    help="What to rephrase: a prompt's JSON or a text file [default: the task's description].",
)
@click.option(
    "--rephrasings", default=10, show_default=True, type=click.IntRange(1), metavar="Q", help="For the search."
)
@click.option("--heldout", default=10, show_default=True, type=click.IntRange(1), metavar="Q", help="For the report.")
@rephrasing_options
@lm_options
@click.option("--seed", default=42, show_default=True, type=click.IntRange(0), help="Seeds the rules' choice.")
@click.option(
    "--cache-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where answers are kept."
)
@DRY_RUN
@JSON
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="[default: the screen]")
def rephrase(
    prompt: Path | None,
    out: Path | None,
    rephrasings: int,
    heldout: int,
    *,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Write the task's description in other words, check each, and save them as a file for `--rephrasings-file`."""
    from psopt.api import estimate_writing
    from psopt.models import ModelProvider
    from psopt.rephrasings import freeze_rephrasings, to_file
    from psopt.runs import read_prompt
    from psopt.tasks import load_task

    lm = take_lm_options(options)
    seed, cache_dir, dataset = options.pop("seed"), options.pop("cache_dir"), options.pop("dataset")
    source = take_rephrasing_options(options)
    task = load_task(dataset, seed=seed, require_labels=False, **options)
    if out is not None and out.exists():
        raise InputError(f"--out {out} exists: name a new file")
    description = read_prompt(prompt, task).description if prompt else task.description
    if dry_run:
        estimate = estimate_writing(task, description, source, rephrasings + heldout)
        return show_estimate(estimate, source.rephraser or "rules", lm, as_json=as_json)
    found = freeze_rephrasings(
        task, description, rephrasings, heldout, seed, source, models=ModelProvider(cache_dir, lm), on_text=_say
    )
    content = to_file(found)
    if out is not None:
        write_file("--out", out, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    if out is None or as_json:
        print_json(content)
    else:
        refused = f", {len(found.rejected)} refused" if found.rejected else ""
        click.echo(f"{out}: {len(found.search)} search and {len(found.heldout)} held-out rephrasings{refused}")
    return 0


def _say(verdict: Verdict) -> None:
    if not verdict.accepted:
        click.echo(f"refused {verdict}", err=True)
