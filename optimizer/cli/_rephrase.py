"""`psopt rephrase`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from psopt.cli._dry_run import show_estimate
from psopt.cli._flags import DataFlags, ModelFlags, RephrasingFlags, verb
from psopt.cli._options import CacheDir, DryRun, Json, Seed, option
from psopt.cli._writing import print_json, write_file
from psopt.errors import InputError

if TYPE_CHECKING:
    from psopt.rephrasings import Verdict

Prompt = Annotated[
    Path | None,
    option(
        "Prompt",
        "--prompt",
        "What to rephrase: a prompt's JSON or a text file",
        "P",
        show_default="the task's description",
    ),
]
SearchCount = Annotated[int, option("Rephrasings", "--rephrasings", "For the search.", "Q", min=1)]
HeldoutCount = Annotated[int, option("Rephrasings", "--heldout", "For the report.", "Q", min=1)]
Out = Annotated[
    Path | None,
    option("Output", "--out", "A new file for them", "FILE", dir_okay=False, show_default="the screen"),
]


@verb("psopt rephrase --dataset tickets.csv --rephraser openai/gpt-4o-mini --out rephrasings.json")
def rephrase(
    *,
    data: DataFlags,
    prompt: Prompt = None,
    rephrasings: SearchCount = 10,
    heldout: HeldoutCount = 10,
    rephrasing: RephrasingFlags,
    lm: ModelFlags,
    seed: Seed = 42,
    cache_dir: CacheDir = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    out: Out = None,
) -> int:
    """Write the task's description in other words, check each, and save them as a file for `--rephrasings-file`."""
    from psopt.api import estimate_rephrasing
    from psopt.api import rephrase as run_rephrasing
    from psopt.cli._settings import lm_options, load_data, rephrasing_options
    from psopt.rephrasings import to_file
    from psopt.runs import read_prompt

    options = lm_options(lm)
    source = rephrasing_options(rephrasing)
    task = load_data(data, seed, require_labels=False, silent=True)
    if out is not None and out.exists():
        raise InputError(f"--out {out} exists: name a new file")
    original = read_prompt(prompt, task) if prompt else None
    if dry_run:
        estimate = estimate_rephrasing(task, original, source, rephrasings + heldout)
        return show_estimate(estimate, source.rephraser or "rules", options, as_json=as_json)
    frozen = run_rephrasing(
        task,
        original,
        rephrasings=rephrasings,
        heldout=heldout,
        rephrasing=source,
        seed=seed,
        lm=options,
        cache_dir=cache_dir,
        on_text=_say,
    )
    content = to_file(frozen)
    if out is not None:
        write_file("--out", out, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    if out is None or as_json:
        print_json(content)
    else:
        refused = f", {len(frozen.rejected)} refused" if frozen.rejected else ""
        typer.echo(f"{out}: {len(frozen.search)} search and {len(frozen.heldout)} held-out rephrasings{refused}")
    return 0


def _say(verdict: Verdict) -> None:
    if not verdict.accepted:
        typer.echo(f"refused {verdict}", err=True)
