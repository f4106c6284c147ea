"""`psopt compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from psopt.cli._dry_run import DRY_RUN, show_estimate
from psopt.cli._measured import SPLIT, take_measure_options, take_task
from psopt.cli._options import dataset_options, lm_options, output_options, prompt_model_options, rephrasing_options
from psopt.cli._writing import print_json
from psopt.evaluation import OBJECTIVES, na_lines

if TYPE_CHECKING:
    from psopt.api import Contender
    from rich.console import Console

_EXAMPLE = "Example: psopt compare --dataset tickets.csv --prompt old.txt --prompt runs/tickets/prompts/1a2b3c.json"


@click.command(epilog=_EXAMPLE)
@dataset_options
@click.option(
    "--prompt",
    "prompts",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="P",
    help="A prompt's JSON or a text file; several times [default: the strategy's].",
)
@click.option("--model2", "more_models", multiple=True, metavar="M", help="Another model; may be given several times.")
@SPLIT
@prompt_model_options
@rephrasing_options
@lm_options
@DRY_RUN
@output_options
def compare(prompts: tuple[Path, ...], more_models: tuple[str, ...], *, dry_run: bool, **options: Any) -> int:
    """Compare prompts, or models, on the same samples and rephrasings: who is better in what, and is it chance?

    Everything is tested against the first prompt under the first model, paired, at the 5 % level. The model is the one
    that the prompts of a run are for, unless another is named.
    """
    from psopt.api import compare as run_comparison
    from psopt.api import estimate_measuring
    from psopt.cli._model_choice import choose_model
    from psopt.cli._reading import reading_bar
    from psopt.models.chat import server_of
    from psopt.runs import read_source
    from psopt.search_spaces import seed_prompt
    from rich.console import Console

    as_json, quiet = options.pop("as_json"), options.pop("quiet")
    sources = [read_source(path) for path in prompts]
    task = take_task(options, require_labels=True, quiet=quiet or as_json)
    strategy = options.pop("strategy")
    named = {str(one.path): one.for_task(task) for one in sources}
    if not named:
        named = {strategy: seed_prompt(task, strategy, seed=options["seed"])}
    choice = choose_model(options, sources, silent=quiet or as_json)
    measured = take_measure_options(options)
    if dry_run:
        estimate = estimate_measuring(task, named, [choice.model, *more_models], measured)
        return show_estimate(estimate, " and ".join([choice.model, *more_models]), measured.lm, as_json=as_json)
    with reading_bar(quiet=quiet or as_json) as on_progress:
        found = run_comparison(task, named, [choice.model, *more_models], measured, on_progress)
    if as_json:
        servers = {name: server_of(name, choice.lm) for name in (choice.model, *more_models)}
        print_json([{**one.to_dict(), "server": servers.get(one.model)} for one in found])
    elif not quiet:
        _show(Console(highlight=False), found)
    return 0


def _show(console: Console, found: list[Contender]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, title="In percent, with 95 % intervals", title_justify="left")
    for name in ("prompt", "model"):
        table.add_column(name, overflow="fold")
    for name in ("F1", "S", "C"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found:
        table.add_row(Text(one.prompt), Text(one.model), *(_score(one, name) for name in OBJECTIVES))
    console.print(table)
    for one in found:
        for line in na_lines(one.scores.to_dict()):
            console.print(f"{one.prompt} under {one.model}: {line}", style="yellow", markup=False, soft_wrap=True)
    for one in found[1:]:
        parts = [_difference(one, name) for name in OBJECTIVES]
        who = one.prompt if one.prompt != found[0].prompt else one.model
        console.print(f"{who} against {found[0].prompt}: {'; '.join(parts)}", markup=False)


def _score(one: Contender, name: str) -> str:
    low, high = one.scores.ci.get(name, (float("nan"), float("nan")))
    return f"{100 * getattr(one.scores, name):.1f} {100 * low:.0f}–{100 * high:.0f}"


def _difference(one: Contender, name: str) -> str:
    found = one.against_first[name]
    return f"{name} {one.verdict(name)} ({100 * found.difference:+.1f}, p {found.p_value:.3f})"
