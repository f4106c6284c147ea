"""`psopt doctor`."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import click
from psopt.cli._options import JSON, lm_options, take_lm_options

_EXAMPLE = "Example: psopt doctor --model openai/llama-3.1-8b --api-base http://localhost:8000/v1"
_WIDTH = 80


@click.command(epilog=_EXAMPLE)
@click.option("--model", required=True, metavar="M", help="openai/NAME, azure/DEPLOYMENT or dspy/NAME.")
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where what is learnt is kept [default: $PSOPT_CACHE_DIR or the user's cache].",
)
@lm_options
@JSON
def doctor(model: str, cache_dir: Path | None, **options: Any) -> int:
    """Find out what a model's server takes, by four short calls, and say what will be used.

    What is learnt is remembered for all runs, in place of what was learnt before.
    """
    from psopt.models import cache_folder
    from psopt.models.chat import examine

    as_json, lm = options.pop("as_json"), take_lm_options(options)
    found = examine(model, cache_dir=cache_folder(cache_dir), options=lm)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=2))
        return 0
    click.echo(f"{found.model}{f' at {found.server}' if found.server else ''}")
    for finding in found.findings:
        line = f"{finding.what:<18} {finding.works:<8} {finding.used}"
        click.echo("\n".join(textwrap.wrap(line, _WIDTH, subsequent_indent=" " * 28)))
    return 0
