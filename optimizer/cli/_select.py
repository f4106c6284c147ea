"""`psopt select`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from psopt.cli._options import OutputOptions, RunFolder
from psopt.cli._tables import new_table, print_table, result_console
from psopt.cli._verb import verb
from psopt.cli._writing import print_json
from psopt.text import shell_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Query = Annotated[str, typer.Argument(metavar="WISH", help="What is asked of it; see above.")]


@verb("psopt select runs/trec-minilm 'max F1 with S <= .05 and tokens < 500'")
def select(*, run: RunFolder, query: Query = "knee", output: OutputOptions) -> int:
    """Select a prompt of a run's front by what is asked of it, and print its id and scores.

    WISH is something like 'max F1 with S <= .05': the best by one measure among prompts within bounds on others.
    Measures are F1, S, C and tokens (the prompt's length), all on val, so that test does not influence the choice. Or:
    knee (the default), recommended, short, f1, sensitivity, consistency, an id.
    """
    from psopt.runs import read_entry

    entry = read_entry(run, query)
    if output.as_json:
        print_json({"run": str(run), "wish": query, **entry})
    elif output.quiet:
        typer.echo(entry["id"])
    else:
        _show(run, entry)
    return 0


def _show(run: Path, entry: Mapping[str, Any]) -> None:
    from psopt.evaluation import measure_names, objective_values
    from psopt.runs import MANIFEST, RunDirectory, quality_name

    console = result_console()
    quality = quality_name(RunDirectory.open(run).read_json(MANIFEST))
    objectives = list(objective_values(entry["val"]))
    measures = [measure_names(quality)[name] for name in objectives]
    title = f"{entry['id']}: {len(entry['edits'])} edits"
    table = new_table(title, texts=["in percent"], numbers=measures, is_narrow=False)
    for split in ("val", "test"):
        scores = entry[split]
        if scores is not None:
            table.add_row(split, *(f"{100 * scores[name]:.1f}" for name in objectives))
    print_table(console, table)
    n_tokens = entry["length"]["tokens"]
    console.print(f"About {n_tokens} tokens, without a text. Chosen on val; test was unseen by the choice.")
    take = shell_line(["psopt", "export", run, "--pick", entry["id"]])
    console.print(f"Next: {take}", soft_wrap=True)
