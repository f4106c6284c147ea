"""`psopt optimize`."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from psopt.cli._model_choice import model_to_search_with
from psopt.cli._options import CacheDir, DryRun, OutputOptions, Prompt, Verbose
from psopt.cli._task_and_prompts import data_for, read_prompts, start_from
from psopt.cli._verb import flag, verb
from psopt.cli._writing import tell
from psopt.errors import InputError
from psopt.settings import PromptOptions, RunOptions, SizeOptions
from psopt.text import shell_line

Out = Annotated[Path | None, flag("Output", "Run directory", "DIR", show_default="runs/TASK-MODEL")]
HeldoutFrom = Annotated[
    Path | None,
    flag(
        "Rephrasings",
        "Wordings of another source (a text file, one per line, or JSON): test tells S under them too.",
        "FILE",
        rank="config",
    ),
]
Resume = Annotated[bool, flag("Search", "Resume the run in --out.", flags="--resume")]
Force = Annotated[
    bool, flag("Search", "With --resume: even if data, model, rephrasings or version have changed.", rank="config")
]


@verb("psopt optimize --dataset tickets.csv --text-column body --label-column team --trials 60")
def optimize(
    *,
    run: RunOptions,
    sizes: SizeOptions,
    prompt: Prompt = None,
    reading: PromptOptions,
    heldout_from: HeldoutFrom = None,
    cache_dir: CacheDir = None,
    dry_run: DryRun = False,
    go_on: Resume = False,
    force: Force = False,
    out: Out = None,
    output: OutputOptions,
    verbose: Verbose = False,
) -> int:
    """Search for prompts that are right, insensitive to wording and consistent.

    Writes a run directory with the Pareto front, scored on test under held-out rephrasings. It recommends one of its
    prompts if tests show that it is no worse than yours and better in something. Otherwise it tells you to keep yours.
    """
    from psopt.cli._run import run as start
    from psopt.cli._run import show_run_estimate
    from psopt.rephrasings import given_wordings
    from psopt.runs.planning import run_settings
    from psopt.tracking import tracker_names

    if go_on and out is None:
        raise InputError("--resume needs --out DIR, the run to resume")
    if run.program and sizes.effort not in {None, "full"}:
        raise InputError(
            f"--effort {sizes.effort} counts calls, and nobody knows how often a --program calls its model: "
            "give --trials, --samples and --rephrasings, and --max-calls"
        )
    sources = read_prompts([prompt], reading, "" if run.program else run.data.dataset)
    model, lm, model_line = model_to_search_with(run.model, run.lm, sources)
    data = replace(data_for(run.data, sources), folder=str(Path.cwd()))
    wordings, wordings_name = given_wordings(heldout_from or ())
    settings = run_settings(
        replace(run, data=data, model=model, lm=lm, log=tracker_names(run.log)),
        sizes,
        heldout_from=wordings,
        heldout_from_name=wordings_name,
        command=shell_line(["psopt", *sys.argv[1:]]),
    )
    task, settings = start_from(sources, settings)
    if dry_run:
        return show_run_estimate(settings, cache_dir, sizes, as_json=output.as_json, task=task)
    if model_line:
        tell(model_line)
    return start(settings, out, cache_dir, output, sizes, resume=go_on, force=force, task=task, verbose=verbose)
