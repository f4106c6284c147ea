"""`psopt doctor`."""

import textwrap
from dataclasses import asdict
from typing import Annotated

import typer
from psopt.cli._options import CacheDir, Json
from psopt.cli._verb import flag, verb
from psopt.cli._writing import print_json
from psopt.settings import LMConfig

_WIDTH = 80  # columns: the output is meant to be copied into issues

Model = Annotated[str, flag("Model", "openai/NAME, azure/DEPLOYMENT or dspy/NAME.", "M")]


@verb("psopt doctor --model openai/llama-3.1-8b --api-base http://localhost:8000/v1")
def doctor(*, model: Model, cache_dir: CacheDir = None, lm: LMConfig, as_json: Json = False) -> int:
    """Find out what a model's server takes, by four short calls, and say what will be used.

    The result is remembered for all runs, and replaces earlier results.
    """
    from psopt.models import cache_folder
    from psopt.models.chat import examine

    examination = examine(model, cache_dir=cache_folder(cache_dir), options=lm)
    if as_json:
        print_json(asdict(examination))
        return 0
    typer.echo(" at ".join(filter(None, (examination.model, examination.server))))
    for finding in examination.findings:
        line = f"{finding.what:<18} {finding.works:<8} {finding.used}"
        typer.echo("\n".join(textwrap.wrap(line, _WIDTH, subsequent_indent=" " * 28)))
    return 0
