"""`psopt optimize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from psopt.cli._flags import DataFlags, ModelFlags, OutputFlags, PlannedFlags, PromptFlags, RephrasingFlags, verb
from psopt.cli._options import DryRun, Gate, GateMargin, Log, MaxPromptTokens, Model, Pin, Prompt, RaceName, option
from psopt.errors import InputError

Sampler = Annotated[str, option("Search", "--sampler", "tpe, nsga2, gp or random.", "NAME")]
Race = Annotated[
    RaceName,
    option(
        "Search",
        "--race",
        "Stop asking about a prompt once others are clearly better; auto does so where answers cost something.",
    ),
]
Out = Annotated[Path | None, option("Output", "--out", "Run directory", "DIR", show_default="runs/TASK-MODEL")]
Storage = Annotated[
    str | None,
    option("Search", "--storage", "Optuna storage", "URL", show_default="a SQLite file in the run directory"),
]
StudyName = Annotated[
    str,
    option(
        "Search",
        "--study-name",
        "Name of the study in the storage",
        "NAME",
        show_default="the run directory's",
    ),
]
Proposer = Annotated[
    str | None,
    option(
        "Search",
        "--proposer",
        "A model that writes definitions and notes, beside the rules; `rules` for none",
        "M",
        show_default="the model that answers, if it can write",
    ),
]
LeaveOneOut = Annotated[
    int | None,
    option(
        "Search",
        "--leave-one-out",
        "Measure what so many edits of the chosen prompt contribute",
        "N",
        min=0,
        show_default="8 with minilm and sim, else 0",
    ),
]
Program = Annotated[
    str | None,
    option(
        "Prompt",
        "--program",
        "A DSPy program to optimize in place of a prompt; --model runs it.",
        "MODULE:NAME",
    ),
]
HeldoutFrom = Annotated[
    Path | None,
    option(
        "Rephrasings",
        "--heldout-from",
        "Wordings of another source (a text file, one a line, or JSON): test tells S under them too.",
        "FILE",
    ),
]
Without = Annotated[
    list[str] | None,
    option(
        "Search",
        "--without",
        "Never use an edit, by its id (psopt export RUN --why lists them); may be repeated.",
        "EDIT",
    ),
]
NoVerbatim = Annotated[
    bool,
    option(
        "Search",
        "--no-verbatim",
        "Let no text of a sample into a prompt: no example, no run of three words, no number, nothing rare or private.",
    ),
]
Resume = Annotated[bool, option("Search", "--resume", "Go on with the run in --out.")]
Force = Annotated[
    bool,
    option("Search", "--force", "With --resume: even if data, model, rephrasings or version have changed."),
]


@verb("psopt optimize --dataset tickets.csv --text-column body --label-column team --trials 60")
def optimize(
    *,
    data: DataFlags,
    prompt: Prompt = None,
    reading: PromptFlags,
    model: Model = "minilm",
    planned: PlannedFlags,
    sampler: Sampler = "tpe",
    race: Race = "auto",
    gate: Gate = "sure",
    gate_margin: GateMargin = 0.01,
    pin: Pin = None,
    max_prompt_tokens: MaxPromptTokens = None,
    no_verbatim: NoVerbatim = False,
    without: Without = None,
    out: Out = None,
    storage: Storage = None,
    study_name: StudyName = "",
    rephrasing: RephrasingFlags,
    heldout_from: HeldoutFrom = None,
    proposer: Proposer = None,
    leave_one_out: LeaveOneOut = None,
    lm: ModelFlags,
    program: Program = None,
    dry_run: DryRun = False,
    go_on: Resume = False,
    force: Force = False,
    log: Log = None,
    output: OutputFlags,
) -> int:
    """Search for prompts that are right, insensitive to wording and consistent.

    Writes a run directory with the Pareto front, scored on test under held-out rephrasings, and recommends one of its
    prompts where tests show that it is no worse than yours and better in something; else it says to keep yours.
    """
    from psopt.cli._model_choice import model_to_search_with
    from psopt.cli._prompts import read_prompts, start_from
    from psopt.cli._run import run, show_run_estimate
    from psopt.cli._settings import run_settings
    from psopt.rephrasings import read_wordings
    from psopt.tracking import tracker_names

    if go_on and out is None:
        raise InputError("--resume needs --out DIR, the run to go on with")
    if program and planned.effort not in {None, "full"}:
        raise InputError(
            f"--effort {planned.effort} counts calls, and nobody knows how often a --program calls its model: "
            "give --trials, --samples and --rephrasings, and --max-calls"
        )
    sources = read_prompts([prompt] if prompt else [], reading)
    asked, options, model_line = model_to_search_with(model, lm, sources)
    settings, plan_options = run_settings(
        data,
        planned,
        rephrasing,
        options,
        sources,
        model=asked,
        sampler=sampler,
        race=race,
        gate=gate,
        gate_margin=gate_margin,
        pinned=tuple(pin or ()),
        heldout_from=read_wordings(heldout_from) if heldout_from else (),
        heldout_from_name=str(heldout_from or ""),
        max_prompt_tokens=max_prompt_tokens,
        no_verbatim=no_verbatim,
        without=tuple(without or ()),
        storage=storage,
        study_name=study_name,
        proposer=proposer,
        leave_one_out=leave_one_out,
        program=program,
        log=tracker_names(log or ()),
    )
    task, settings = start_from(sources, settings, silent=output.silent)
    if dry_run:
        return show_run_estimate(settings, planned.cache_dir, plan_options, as_json=output.as_json, task=task)
    if model_line and not output.silent:
        typer.echo(model_line, err=True)
    return run(settings, out, planned.cache_dir, output, plan_options, resume=go_on, force=force, task=task)
