"""`psopt resume`."""

from typing import Annotated, Any

from psopt.cli._options import CacheDir, DryRun, OutputOptions, RunFolder, Verbose
from psopt.cli._verb import Changes, flag, verb
from psopt.cli._writing import tell
from psopt.settings import RunOptions, SizeOptions

Anew = Annotated[dict[str, Any], Changes("resume", (SizeOptions, RunOptions), "the run's")]
Force = Annotated[bool, flag("Search", "Even if the data, the rephrasings or psopt's version have changed.")]


@verb("psopt resume runs/trec-minilm")
def resume(
    *,
    run: RunFolder,
    anew: Anew,
    cache_dir: CacheDir = None,
    force: Force = False,
    dry_run: DryRun = False,
    output: OutputOptions,
    verbose: Verbose = False,
) -> int:
    """Resume an interrupted run, or add trials to a finished one.

    Answers that were paid for are not requested again. Limits count from the start of the run.
    """
    from psopt.api import settings_to_resume
    from psopt.cli._run import run as carry_on
    from psopt.cli._run import show_run_estimate
    from psopt.tracking import tracker_names

    if anew["log"] is not None:
        anew["log"] = tracker_names(anew["log"])
    settings = settings_to_resume(run, **anew)
    if settings.prompt:
        tell(f"prompt {settings.prompt_file or settings.prompt.id}, as the run keeps it")
    if dry_run:
        return show_run_estimate(settings, cache_dir, as_json=output.as_json, run=run)
    return carry_on(settings, run, cache_dir, output, resume=True, force=force, verbose=verbose)
