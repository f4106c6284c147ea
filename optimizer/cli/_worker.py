"""`psopt worker`."""

from __future__ import annotations

from typing import Annotated

import typer
from psopt.cli._flags import OutputFlags, RequestFlags, verb
from psopt.cli._options import CacheDir, option
from psopt.cli._writing import print_json

Storage = Annotated[str, option("Search", "--storage", "The Optuna storage that `psopt optimize` was given.", "URL")]
StudyName = Annotated[str, option("Search", "--study-name", "The study's name.", "NAME")]
Trials = Annotated[
    int | None,
    option("Search", "--trials", "Stop after so many of one's own", "N", min=1, show_default="when all are done"),
]
Dataset = Annotated[
    str | None, option("Data", "--dataset", "Where the data are here", "D", show_default="as in the study")
]
ApiBase = Annotated[
    str | None,
    option("Model", "--api-base", "The model's server as seen from here", "URL", show_default="as in the study"),
]
Concurrency = Annotated[
    int | None,
    option("Model", "--concurrency", "Most requests in flight", "N", min=1, show_default="as in the study"),
]


@verb("psopt worker --storage postgresql://user@host/db --study-name tickets")
def worker(
    *,
    storage: Storage,
    study_name: StudyName,
    trials: Trials = None,
    dataset: Dataset = None,
    api_base: ApiBase = None,
    request: RequestFlags,
    concurrency: Concurrency = None,
    cache_dir: CacheDir = None,
    output: OutputFlags,
) -> int:
    """Join a study that `psopt optimize --storage` has started, on any machine.

    Task, prompt, rephrasings and edits come from the study; the data have to be here too, and are compared. The worker
    proposes and evaluates until the study's trials are done. If it is killed, another takes over what it had in hand.
    """
    from psopt.api import worker as run_worker
    from psopt.cli._screen import Screen
    from psopt.cli._settings import request_options

    with Screen(quiet=output.silent) as screen:
        n_own = run_worker(
            storage,
            study_name,
            trials=trials,
            dataset=dataset,
            cache_dir=cache_dir,
            observer=screen,
            api_base=api_base,
            concurrency=concurrency,
            **request_options(request),
        )
    if output.as_json:
        print_json({"study_name": study_name, "evaluated": n_own}, indent=None)
    elif not output.quiet:
        typer.echo(f"This worker evaluated {n_own} prompts; the study's trials are done.")
    return 0
