"""`psopt optimize`, and what joins a run that it has begun: `psopt resume` and `psopt worker`."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from psopt.cli._measuring import data_for, model_to_search_with, read_all, read_prompts
from psopt.cli._options import CacheDir, DryRun, OutputOptions, Prompt, RunFolder, Verbose
from psopt.cli._verb import Changes, flag, verb
from psopt.cli._writing import print_json, tell
from psopt.errors import InputError
from psopt.settings import LMConfig, PromptOptions, RunOptions, SizeOptions
from psopt.text import counted, shell_line

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
Anew = Annotated[dict[str, Any], Changes("resume", (SizeOptions, RunOptions), "the run's")]
ForceResume = Annotated[bool, flag("Search", "Even if the data, the rephrasings or psopt's version have changed.")]
Storage = Annotated[str, flag("Search", "The Optuna storage that `psopt optimize` was given.", "URL")]
StudyName = Annotated[str, flag("Search", "The study's name.", "NAME")]
Trials = Annotated[
    int | None, flag("Search", "Stop after so many of one's own", "N", min=1, show_default="when all are done")
]
Dataset = Annotated[str | None, flag("Data", "Where the data are here", "D", show_default="as in the study")]
Here = Annotated[dict[str, Any], Changes("worker", (LMConfig,), "as in the study")]


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
    from psopt.cli._run import run_search, show_run_estimate
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
    task = None
    if sources:
        task = settings.load_task()
        (original,) = read_all(sources, task)
        settings = replace(settings, prompt=original, prompt_file=str(sources[0].path))
    if dry_run:
        return show_run_estimate(settings, cache_dir, sizes, as_json=output.as_json, task=task)
    if model_line:
        tell(model_line)
    return run_search(settings, out, cache_dir, output, sizes, resume=go_on, force=force, task=task, verbose=verbose)


@verb("psopt resume runs/trec-minilm")
def resume(
    *,
    run: RunFolder,
    anew: Anew,
    cache_dir: CacheDir = None,
    force: ForceResume = False,
    dry_run: DryRun = False,
    output: OutputOptions,
    verbose: Verbose = False,
) -> int:
    """Resume an interrupted run, or add trials to a finished one.

    Answers that were paid for are not requested again. Limits count from the start of the run.
    """
    from psopt.api import settings_to_resume
    from psopt.cli._run import run_search, show_run_estimate
    from psopt.tracking import tracker_names

    if anew["log"] is not None:
        anew["log"] = tracker_names(anew["log"])
    settings = settings_to_resume(run, **anew)
    if settings.prompt:
        tell(f"prompt {settings.prompt_file or settings.prompt.id}, as the run keeps it")
    if dry_run:
        return show_run_estimate(settings, cache_dir, as_json=output.as_json, run=run)
    return run_search(settings, run, cache_dir, output, resume=True, force=force, verbose=verbose)


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
