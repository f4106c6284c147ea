"""`psopt check`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from psopt.cli._dry_run import DRY_RUN, show_estimate
from psopt.cli._measured import SPLIT, take_measure_options, take_task
from psopt.cli._options import dataset_options, lm_options, output_options, prompt_model_options, rephrasing_options
from psopt.cli._writing import print_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.evaluation import Scores

_Command = TypeVar("_Command", bound="Callable[..., Any] | click.Command")
_EXAMPLE = "Example: psopt check --dataset tickets.csv --prompt p.json --max-sensitivity 0.1 --min-f1 0.8"


def _bound(name: str, what: str) -> Callable[[_Command], _Command]:
    return click.option(name, type=click.FloatRange(0, 1), metavar="X", help=what)


@click.command(epilog=_EXAMPLE)
@dataset_options
@click.option("--prompt", type=click.Path(path_type=Path), metavar="P", help="[default: the strategy's seed prompt]")
@_bound("--max-sensitivity", "S must not be above this.")
@_bound("--min-f1", "F1 must not be below this.")
@_bound("--min-consistency", "C must not be below this.")
@_bound("--max-na-rate", "The share of answers that name no label must not be above this.")
@click.option("--sure", is_flag=True, help="Ask it of the bad end of the 95 % interval, not of the estimate.")
@SPLIT
@prompt_model_options
@rephrasing_options
@lm_options
@DRY_RUN
@output_options
def check(prompt: Path | None, *, sure: bool, dry_run: bool, **options: Any) -> int:
    """Check a prompt against bounds, for continuous integration: exit code 0 if all are kept, 1 if not.

    A prompt of a run is checked with the run's model, server and options, unless others are named.
    """
    from psopt.api import RESTS_ON_NA, estimate_measuring, measure, requirements
    from psopt.cli._model_choice import choose_model
    from psopt.cli._reading import reading_bar
    from psopt.evaluation import score
    from psopt.runs import read_source
    from psopt.search_spaces import seed_prompt

    as_json, quiet = options.pop("as_json"), options.pop("quiet")
    names = ("max_sensitivity", "min_f1", "min_consistency", "max_na_rate")
    bounds = {name: options.pop(name) for name in names}
    if not any(bound is not None for bound in bounds.values()):
        raise click.UsageError("nothing to check: give --max-sensitivity, --min-f1, --min-consistency or --max-na-rate")
    source = read_source(prompt) if prompt else None
    task = take_task(options, require_labels=True, quiet=quiet or as_json)
    strategy = options.pop("strategy")
    given = source.for_task(task) if source else seed_prompt(task, strategy, seed=options["seed"])
    choice = choose_model(options, [source] if source else [], silent=quiet or as_json)
    measured = take_measure_options(options)
    if dry_run:
        estimate = estimate_measuring(task, {"": given}, [choice.model], measured)
        return show_estimate(estimate, choice.model, measured.lm, as_json=as_json)
    with reading_bar(quiet=quiet or as_json) as on_progress:
        scores = score(measure(task, given, choice.model, measured, on_progress), intervals=True, seed=measured.seed)
    found = requirements(scores, bounds, sure=sure)
    met = all(one.met for one in found)
    if as_json:
        checks = [{**asdict(one), "met": one.met} for one in found]
        print_json({"met": met, "checks": checks, **choice.to_dict(), **scores.to_dict()})
    else:
        for one in found:
            if not (quiet and one.met):
                click.echo(str(one), err=not one.met)
        if not quiet:
            _note_na(scores, said=any(one.option == RESTS_ON_NA for one in found))
    return 0 if met else 1


def _note_na(scores: Scores, *, said: bool) -> None:
    """Say what rests on N/A, where no missed bound has said it, and what the answers are."""
    from psopt.evaluation import na_lines, rests_on_na

    lines = na_lines(scores.to_dict())
    for line in lines[1:] if said and rests_on_na(scores.na_rate) else lines:
        click.echo(f"Note: {line}", err=True)
