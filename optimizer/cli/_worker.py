"""`psopt worker`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from psopt.cli._options import output_options, request_options

_EXAMPLE = "Example: psopt worker --storage postgresql://user@host/db --study-name tickets"


@click.command(epilog=_EXAMPLE)
@click.option("--storage", required=True, metavar="URL", help="The Optuna storage that `psopt optimize` was given.")
@click.option("--study-name", required=True, metavar="NAME", help="The study's name.")
@click.option("--trials", type=click.IntRange(1), help="Stop after so many of one's own [default: when all are done].")
@click.option("--dataset", metavar="D", help="Where the data are here [default: as in the study].")
@click.option("--api-base", metavar="URL", help="The model's server as seen from here [default: as in the study].")
@request_options
@click.option("--concurrency", type=click.IntRange(1), help="Most requests in flight [default: as in the study].")
@click.option(
    "--cache-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where answers are kept."
)
@output_options
def worker(
    storage: str,
    study_name: str,
    trials: int | None,
    dataset: str | None,
    api_base: str | None,
    concurrency: int | None,
    cache_dir: Path | None,
    *,
    as_json: bool,
    quiet: bool,
    **lm_changes: Any,
) -> int:
    """Join a study that `psopt optimize --storage` has started, on any machine.

    Task, prompt, rephrasings and edits come from the study; the data have to be here too, and are compared. The worker
    proposes and evaluates until the study's trials are done. If it is killed, another takes over what it had in hand.
    """
    from psopt.api import work
    from psopt.cli._screen import Screen

    with Screen(quiet=quiet or as_json) as screen:
        n_own = work(
            storage,
            study_name,
            trials=trials,
            dataset=dataset,
            cache_dir=cache_dir,
            observer=screen,
            api_base=api_base,
            concurrency=concurrency,
            **lm_changes,
        )
    if as_json:
        click.echo(json.dumps({"study_name": study_name, "evaluated": n_own}))
    elif not quiet:
        click.echo(f"This worker evaluated {n_own} prompts; the study's trials are done.")
    return 0
