"""`psopt check`."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from psopt.cli._dry_run import show_estimate
from psopt.cli._lines import wrapped
from psopt.cli._options import DryRun, OutputOptions, Prompt, PromptModel, Strategy
from psopt.cli._verb import flag, verb
from psopt.cli._writing import check_writable, print_json, write_whole
from psopt.settings import BoundOptions, DataOptions, MeasureOptions, PromptOptions

if TYPE_CHECKING:
    from psopt.api import CheckResult

Junit = Annotated[
    Path | None, flag("Output", "--junit", "Write the result as JUnit XML: each bound a test case.", "FILE")
]


@verb("psopt check --dataset tickets.csv --prompt p.json --max-sensitivity 0.1 --min-f1 0.8")
def check(
    *,
    data: DataOptions,
    prompt: Prompt = None,
    reading: PromptOptions,
    bounds: BoundOptions,
    model: PromptModel = None,
    strategy: Strategy = "simple",
    measuring: MeasureOptions,
    dry_run: DryRun = False,
    junit: Junit = None,
    output: OutputOptions,
) -> int:
    """Check a prompt against bounds, for continuous integration: exit code 0 if all are kept, 1 if not.

    A prompt of a run is checked with the run's model, server and options, unless others are named.
    """
    from psopt.api import check as run_check
    from psopt.api import estimate_measuring, further_pinned
    from psopt.cli._junit import junit_xml
    from psopt.cli._model_choice import choose_model
    from psopt.cli._prompts import prompt_for_task, read_prompts
    from psopt.cli._reading import reading_bar
    from psopt.cli._step_summary import add_step_summary
    from psopt.cli._task import load_task
    from psopt.evaluation import beside_quality_line, note_size, shares_line
    from psopt.rephrasings import tame_note

    if junit is not None:
        check_writable("--junit", junit)
    sources = read_prompts([prompt] if prompt else [], reading)
    task = load_task(data, measuring.seed, sources, require_labels=True, silent=output.silent)
    choice = choose_model(model, measuring.lm, sources, silent=True)
    checked = prompt_for_task(sources, task, strategy, measuring.seed, silent=output.silent)
    choice.say(silent=output.silent)
    options = replace(measuring, lm=choice.lm)
    if dry_run:
        further = further_pinned(task, options, bounds.pinned)
        estimate = estimate_measuring(task, {"": checked}, [choice.model], options, further)
        return show_estimate(estimate, choice.model, options.lm, as_json=output.as_json)
    with reading_bar(quiet=output.silent) as on_progress:
        result = run_check(
            task,
            checked,
            model=choice.model,
            on_progress=on_progress,
            bounds=bounds,
            options=options,
        )
    facts = {"data": data.dataset, "model": choice.model, "prompt": prompt or strategy}
    if junit is not None:
        write_whole("--junit", junit, junit_xml(result, facts))
    add_step_summary(result, facts, silent=output.silent)
    if output.as_json:
        checks = [{**asdict(threshold), "met": threshold.met} for threshold in result.thresholds]
        print_json(
            {
                "met": result.met,
                "checks": checks,
                **choice.to_dict(),
                **result.scores.to_dict(),
                "rephrasings_diversity": result.diversity,
            }
        )
        return 0 if result.met else 1
    for threshold in result.thresholds:
        if not (output.quiet and threshold.met):
            typer.echo(str(threshold), err=not threshold.met)
    if output.quiet:
        return 0 if result.met else 1
    notes = [note_size(result.scores), *_na_notes(result)]
    if line := beside_quality_line(result.scores.to_dict()):
        notes.append(line)
    if line := shares_line(result.scores.to_dict()):
        notes.append(line)
    if note := tame_note(result.diversity):
        notes.insert(0, f"S: {note}")
    for line in wrapped(f"Note: {note}" for note in notes):
        typer.echo(line, err=True)
    return 0 if result.met else 1


def _na_notes(result: CheckResult) -> list[str]:
    """What rests on N/A, where no missed bound has said it, and what the answers are."""
    from psopt.api import RESTS_ON_NA
    from psopt.evaluation import na_lines, rests_on_na

    lines = na_lines(result.scores.to_dict())
    is_told = any(threshold.option == RESTS_ON_NA for threshold in result.thresholds)
    return lines[1:] if is_told and rests_on_na(result.scores.na_rate) else lines
