"""`psopt worker`."""

from typing import Annotated, Any

import typer
from psopt.cli._options import CacheDir, OutputOptions
from psopt.cli._verb import Changes, flag, verb
from psopt.cli._writing import print_json
from psopt.settings import LMConfig
from psopt.text import counted

Storage = Annotated[str, flag("Search", "The Optuna storage that `psopt optimize` was given.", "URL")]
StudyName = Annotated[str, flag("Search", "The study's name.", "NAME")]
Trials = Annotated[
    int | None, flag("Search", "Stop after so many of one's own", "N", min=1, show_default="when all are done")
]
Dataset = Annotated[str | None, flag("Data", "Where the data are here", "D", show_default="as in the study")]
Here = Annotated[dict[str, Any], Changes("worker", (LMConfig,), "as in the study")]


@verb("psopt worker --storage postgresql://user@host/db --study-name tickets")
def worker(
    *,
    storage: Storage,
    study_name: StudyName,
    trials: Trials = None,
    dataset: Dataset = None,
    here: Here,
    cache_dir: CacheDir = None,
    output: OutputOptions,
) -> int:
    """Join a study that `psopt optimize --storage` has started, on any machine.

    Task, prompt, rephrasings and edits come from the study; the data must also be on this machine, and are compared.
    The worker proposes and evaluates until the study's trials are done. If it is killed, another takes over its trial.
    """
    import psopt.api as api
    from psopt.cli._screen import Screen

    with Screen(quiet=output.silent, is_worker=True) as screen:
        n_own = api.worker(
            storage, study_name, trials=trials, dataset=dataset, cache_dir=cache_dir, observer=screen, **here
        )
    if output.as_json:
        print_json({"study_name": study_name, "evaluated": n_own}, indent=None)
    elif not output.quiet:
        why = "the study's trials are done" if n_own != trials else "it was to stop then"
        typer.echo(f"This worker evaluated {counted(n_own, 'prompt')}; {why}.")
    return 0
