"""A run that the command line starts or resumes, and its output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psopt.api as api
from psopt.cli._interrupting import INTERRUPTED
from psopt.cli._plan_lines import estimate_lines, show_estimate
from psopt.cli._result import show_result
from psopt.cli._screen import Screen
from psopt.cli._tables import result_console
from psopt.cli._writing import print_json
from psopt.errors import BudgetReachedError, InputError
from psopt.runs import MANIFEST, CostEstimate, Run, RunDirectory, RunSettings, has_found_nothing

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.cli._options import OutputOptions
    from psopt.runs.planning import Plan
    from psopt.settings import SizeOptions
    from psopt.tasks import Task


def show_run_estimate(
    settings: RunSettings,
    cache_dir: Path | None,
    sizes: SizeOptions | None = None,
    *,
    as_json: bool,
    run: Path | None = None,
    task: Task | None = None,
) -> int:
    """Say what a run, or the rest of one, would cost."""
    if settings.program:
        raise InputError("--dry-run does not know how often a --program calls its model; use --max-calls")
    task = task or settings.load_task()
    plan = None
    if sizes is None or run is not None:
        estimate = api.estimate_run(task, settings, cache_dir, run=run)
    else:
        plan = api.plan_run(task, settings, sizes, cache_dir)
        estimate = plan.estimate
    return show_estimate(estimate, settings.model, settings.lm, as_json=as_json, plan=plan)


def run_search(
    settings: RunSettings,
    out: Path | None,
    cache_dir: Path | None,
    output: OutputOptions,
    sizes: SizeOptions | None = None,
    *,
    resume: bool,
    force: bool,
    task: Task | None = None,
    verbose: bool = False,
) -> int:
    """Start or resume a run, show its progress and result; `sizes` are to be planned."""
    screen = Screen(quiet=output.silent)
    task = task or settings.load_task()

    def expect(estimate: CostEstimate, plan: Plan | None) -> None:
        screen.expect(estimate, estimate_lines(estimate, settings.model, settings.lm, caveat=False), plan)

    with screen:
        try:
            if settings.program:
                from psopt.dspy_programs import optimize_program

                if out is not None and not resume and (out / MANIFEST).exists() and not has_found_nothing(out):
                    hint = f"resume with `psopt resume {out}`, or name another folder"
                    raise InputError(f"--out {out} holds a run already: {hint}")
                result = optimize_program(task, settings, out=out, cache_dir=cache_dir, observer=screen, force=force)
            else:
                result = api.run(
                    task,
                    settings,
                    sizes,
                    out=out,
                    cache_dir=cache_dir,
                    resume=resume,
                    force=force,
                    observer=screen,
                    on_plan=None if output.silent else expect,
                )
        except KeyboardInterrupt:
            if screen.interrupted():
                return INTERRUPTED
            raise
        except BudgetReachedError as error:
            if error.run is not None:
                _show(error.run, output, screen.spent, verbose=verbose)
            raise
    _show(result, output, screen.spent, verbose=verbose)
    return 0


def _show(run: Run, output: OutputOptions, spent: str, *, verbose: bool) -> None:
    if output.as_json:
        manifest = RunDirectory.open(run.path).read_json(MANIFEST)
        print_json({"run": str(run.path), **manifest})
    elif not output.quiet:
        show_result(run, result_console(), spent, verbose=verbose)
