"""`psopt optimize` and `psopt resume`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from psopt.cli._dry_run import DRY_RUN
from psopt.cli._interrupting import INTERRUPTED
from psopt.cli._model_choice import likelihood_note
from psopt.cli._options import (
    dataset_options,
    lm_options,
    model_options,
    output_options,
    rephrasing_options,
    request_options,
    take_lm_options,
)
from psopt.errors import BudgetReachedError, InputError

if TYPE_CHECKING:
    from psopt.api import Run
    from psopt.cli._screen import Screen
    from psopt.runs import RunSettings
    from psopt.tasks import Task

_EPILOG = "Example: psopt optimize --dataset tickets.csv --text-column body --label-column team --trials 60"


@click.command(epilog=_EPILOG)
@dataset_options
@model_options
@click.option("--trials", default=40, show_default=True, type=click.IntRange(1), help="Prompts to evaluate in total.")
@click.option(
    "--rounds",
    default=3,
    show_default=True,
    type=click.IntRange(1),
    help="How often to diagnose and propose.",
)
@click.option("--sampler", default="tpe", show_default=True, metavar="NAME", help="tpe, nsga2, gp or random.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Run directory [default: runs/TASK-MODEL].")
@click.option("--storage", metavar="URL", help="Optuna storage [default: a SQLite file in the run directory].")
@click.option(
    "--study-name",
    default="",
    metavar="NAME",
    help="Name of the study in the storage [default: the run directory's].",
)
@rephrasing_options
@click.option("--proposer", metavar="M", help="A model that drafts edits, beside the rules [default: rules alone].")
@click.option(
    "--leave-one-out",
    type=click.IntRange(0),
    metavar="N",
    help="Measure what so many edits of the chosen prompt contribute [default: 8 with minilm and sim, else 0].",
)
@lm_options
@click.option(
    "--program",
    metavar="MODULE:NAME",
    help="A DSPy program to optimize in place of a prompt; --model runs it.",
)
@DRY_RUN
@click.option("--resume", "go_on", is_flag=True, help="Go on with the run in --out.")
@click.option("--force", is_flag=True, help="With --resume: even if data, model, rephrasings or version have changed.")
@output_options
def optimize(**options: Any) -> int:
    """Search for prompts that are right, insensitive to wording and consistent.

    Writes a run directory with the Pareto front, scored on test under held-out rephrasings.
    """
    from psopt.rephrasings import check_judge
    from psopt.runs import RunSettings

    check_judge(options["rephraser"], options["judge"])
    as_json, quiet, go_on, dry_run, force = (
        options.pop(name) for name in ("as_json", "quiet", "go_on", "dry_run", "force")
    )
    lm = take_lm_options(options)
    out, cache_dir = options.pop("out"), options.pop("cache_dir")
    if go_on and out is None:
        raise InputError("--resume needs --out DIR, the run to go on with")
    plain: dict[str, Any] = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    settings = RunSettings(command=shlex.join(["psopt", *sys.argv[1:]]), lm=lm, folder=str(Path.cwd()), **plain)
    if dry_run:
        return _estimate(settings, cache_dir, as_json=as_json)
    note = likelihood_note(settings.model, lm)
    if note and not (quiet or as_json):
        click.echo(f"model {settings.model}{note}", err=True)
    return _run(settings, out, cache_dir, resume=go_on, force=force, as_json=as_json, quiet=quiet)


@click.command(epilog="Example: psopt resume runs/trec-minilm")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--trials", type=click.IntRange(1), help="A new total of trials [default: the run's].")
@click.option("--leave-one-out", type=click.IntRange(0), metavar="N", help="Measure what so many edits contribute.")
@click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Stop before more calls than these.")
@click.option("--max-tokens-total", type=click.IntRange(0), metavar="N", help="Stop before more tokens than these.")
@click.option("--max-cost", type=click.FloatRange(0), metavar="USD", help="Stop before a higher cost than this.")
@click.option("--max-tokens", type=click.IntRange(1), help="Most tokens of one answer [default: the run's].")
@click.option(
    "--max-unanswered", type=click.FloatRange(0, 1), metavar="X", help="Texts that may be refused [default: the run's]."
)
@click.option("--api-base", metavar="URL", help="Where the server is now [default: where it was].")
@click.option("--storage", metavar="URL", help="The storage, where it needs a password that is not in PGPASSWORD.")
@request_options
@click.option("--concurrency", type=click.IntRange(1), help="Most requests in flight [default: the run's].")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="S", help="[default: the run's]")
@click.option("--retries", type=click.IntRange(0), help="[default: the run's]")
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where answers are kept.",
)
@click.option("--force", is_flag=True, help="Even if the data, the rephrasings or psopt's version have changed.")
@DRY_RUN
@output_options
def resume(
    run: Path,
    trials: int | None,
    leave_one_out: int | None,
    cache_dir: Path | None,
    storage: str | None,
    *,
    force: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    **changed: Any,
) -> int:
    """Go on with an interrupted run, or add trials to a finished one.

    Answers that were paid for are not asked again. Limits count from now on.
    """
    from dataclasses import replace

    from psopt.runs import MANIFEST, RunDirectory, RunSettings

    settings = RunSettings.from_dict(RunDirectory.open(run).read_json(MANIFEST)["settings"])
    if settings.program == "python":
        raise InputError(
            f"{run} is of a program that was compiled in Python: compile it again with log_dir={str(run)!r}"
        )
    if settings.own_model:
        raise InputError(
            f"{run} was made with a model object in Python ({settings.model}), which no name loads: go on with "
            f"psopt.optimize(task, model=.., out={str(run)!r}, resume=True)"
        )
    settings = replace(
        settings,
        lm=settings.lm.changed(**changed),
        trials=trials or settings.trials,
        storage=storage or settings.storage,
    )
    if leave_one_out is not None:
        settings = replace(settings, leave_one_out=leave_one_out)
    if dry_run:
        return _estimate(settings, cache_dir, as_json=as_json, run=run)
    return _run(settings, run, cache_dir, resume=True, force=force, as_json=as_json, quiet=quiet)


def _estimate(settings: RunSettings, cache_dir: Path | None, *, as_json: bool, run: Path | None = None) -> int:
    """Say what a run, or what is left of one, would take."""
    from psopt.api import estimate_run
    from psopt.cli._dry_run import show_estimate
    from psopt.runs import task_of

    if settings.program:
        raise InputError("--dry-run does not know how often a --program calls its model; use --max-calls")
    estimate = estimate_run(task_of(settings), settings, cache_dir, run=run)
    return show_estimate(estimate, settings.model, settings.lm, as_json=as_json)


def _run(
    settings: RunSettings,
    out: Path | None,
    cache_dir: Path | None,
    *,
    resume: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    from psopt.api import carry_out
    from psopt.cli._screen import Screen
    from psopt.runs import task_of

    screen = Screen(quiet=quiet or as_json)
    task = task_of(settings)
    with screen:
        try:
            if not (quiet or as_json):
                _expect(screen, task, settings, cache_dir, out if resume else None)
            if settings.program:
                run = _optimize_program(task, settings, out, cache_dir, screen, resume=resume, force=force)
            else:
                run = carry_out(
                    task, settings, out=out, cache_dir=cache_dir, resume=resume, force=force, observer=screen
                )
        except KeyboardInterrupt:
            if screen.interrupted():
                return INTERRUPTED
            raise
        except BudgetReachedError as error:
            if error.run is not None:
                _show(error.run, screen, as_json=as_json)
            raise
    _show(run, screen, as_json=as_json)
    return 0


def _expect(screen: Screen, task: Task, settings: RunSettings, cache_dir: Path | None, run: Path | None) -> None:
    """Say what the run will take, where that costs something and can be known."""
    from psopt.api import estimate_run
    from psopt.cli._dry_run import estimate_lines
    from psopt.models.chat import CHAT_KINDS

    if settings.program or settings.model.partition("/")[0] not in CHAT_KINDS:
        return
    estimate = estimate_run(task, settings, cache_dir, run=run)
    screen.expect(estimate, estimate_lines(estimate, settings.model, settings.lm, caveat=False))


def _show(run: Run, screen: Screen, *, as_json: bool) -> None:
    from psopt.runs import MANIFEST, RunDirectory

    if as_json:
        manifest = RunDirectory.open(run.path).read_json(MANIFEST)
        click.echo(json.dumps({"run": str(run.path), **manifest}, indent=2))
    else:
        screen.result(run)


def _optimize_program(
    task: Task,
    settings: RunSettings,
    out: Path | None,
    cache_dir: Path | None,
    screen: Screen,
    *,
    resume: bool,
    force: bool,
) -> Run:
    from psopt.dspy_programs import optimize_program
    from psopt.runs import MANIFEST, has_found_nothing

    if out is not None and (out / MANIFEST).exists() and not resume and not has_found_nothing(out):
        raise InputError(f"--out {out} holds a run already: go on with `psopt resume {out}`, or name another folder")
    return optimize_program(task, settings, out=out, cache_dir=cache_dir, observer=screen, force=force)
