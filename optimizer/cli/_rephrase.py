"""`psopt rephrase`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from psopt.cli._dry_run import show_estimate
from psopt.cli._options import CacheDir, DryRun, Json, Seed
from psopt.cli._typer import UsageError
from psopt.cli._verb import flag, verb
from psopt.cli._writing import print_json, write_file
from psopt.errors import InputError
from psopt.settings import DataOptions, LMConfig, PromptOptions, RephrasingOptions

if TYPE_CHECKING:
    from psopt.rephrasings import Verdict

Prompt = Annotated[
    str | None,
    flag(
        "Prompt",
        "--prompt",
        "What to rephrase: your prompt, a run's prompts/ID.json, or MODULE:NAME",
        "P",
        show_default="the task's description",
    ),
]
Show = Annotated[bool, flag("Output", "--show", "Show what of --prompt is rephrased and what is kept; asks nobody.")]
SearchCount = Annotated[int, flag("Rephrasings", "--rephrasings", "For the search.", "Q", min=1)]
HeldoutCount = Annotated[int, flag("Rephrasings", "--heldout", "For the report.", "Q", min=1)]
Out = Annotated[
    Path | None,
    flag("Output", "--out", "A new file for them", "FILE", dir_okay=False, show_default="the screen"),
]


_NO_DATA = DataOptions("")  # --show can do without


@verb("psopt rephrase --dataset tickets.csv --rephraser openai/gpt-4o-mini --out rephrasings.json")
def rephrase(
    *,
    data: DataOptions = _NO_DATA,
    prompt: Prompt = None,
    reading: PromptOptions,
    show: Show = False,
    rephrasings: SearchCount = 10,
    heldout: HeldoutCount = 10,
    rephrasing: RephrasingOptions,
    lm: LMConfig,
    seed: Seed = 42,
    cache_dir: CacheDir = None,
    dry_run: DryRun = False,
    as_json: Json = False,
    out: Out = None,
) -> int:
    """Write a prompt's instructions in other words, check each, and save them as a file for `--rephrasings-file`.

    Of a prompt of your own only its instructions are rephrased: those between <rephrase> and </rephrase>, else those
    that are found. --show says which.
    """
    from psopt.api import estimate_rephrasing
    from psopt.api import rephrase as run_rephrasing
    from psopt.cli._prompts import read_for_task, read_prompts
    from psopt.cli._rephrased_prompt import show_prompt
    from psopt.cli._task import load_task
    from psopt.rephrasings import diversity_of, tame_note, to_file

    if show and prompt is None:
        raise UsageError("--show shows what of a prompt is rephrased: give --prompt too")
    if show and out is not None:
        raise UsageError("--show writes no rephrasings: leave --out out")
    if not data.dataset and not show:
        raise UsageError("Missing option '--dataset'.")
    sources = read_prompts([prompt] if prompt else [], reading)
    task = load_task(data, seed, sources, require_labels=False, silent=True) if data.dataset else None
    if show or task is None:
        return show_prompt(sources[0], task, as_json=as_json)
    if out is not None and out.exists():
        raise InputError(f"--out {out} exists: name a new file")
    original = read_for_task(sources[0], task, silent=as_json) if sources else None
    if dry_run:
        estimate = estimate_rephrasing(task, original, rephrasing, rephrasings + heldout)
        return show_estimate(estimate, rephrasing.rephraser or "rules", lm, as_json=as_json)
    frozen = run_rephrasing(
        task,
        original,
        rephrasings=rephrasings,
        heldout=heldout,
        rephrasing=rephrasing,
        seed=seed,
        lm=lm,
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
    for kind, value in diversity_of(frozen, task.labels).items():
        if note := tame_note(value):
            typer.echo(f"{kind}: {note}", err=True)
    return 0


def _say(verdict: Verdict) -> None:
    if not verdict.accepted:
        typer.echo(f"refused {verdict}", err=True)
