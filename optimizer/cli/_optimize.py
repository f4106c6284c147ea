"""Searches: `psopt optimize`; `psopt resume` and `psopt worker`, which join one; `psopt migrate`, for another model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from psopt.cli._main import INTERRUPTED
from psopt.cli._measuring import choose_model, data_for, likelihood_note, read_all, read_prompts, reading_bar
from psopt.cli._tables import in_percent, new_table, print_sentences, print_table, result_console
from psopt.cli._typer import is_given
from psopt.cli._verb import CACHE_DIR, DRY_RUN, OWN_PROMPT, PICK, VERBOSE, Changes, OutputOptions, RunFolder, verb
from psopt.cli._writing import print_json, tell
from psopt.errors import InputError
from psopt.settings import (
    DATA,
    MODEL,
    MODELS,
    OUTPUT,
    REPHRASINGS,
    SEARCH,
    LMConfig,
    PromptOptions,
    RunOptions,
    SizeOptions,
)
from psopt.text import counted, shell_line

if TYPE_CHECKING:
    from psopt.api import Migration, Moved

Anew = Annotated[dict[str, Any], Changes("resume", (SizeOptions, RunOptions), "the run's")]
Here = Annotated[dict[str, Any], Changes("worker", (LMConfig,), "as in the study")]
_OUT = OUTPUT.first("Run directory", "DIR", shown_default="runs/TASK-MODEL")
_RESUME = SEARCH.first("Resume the run in --out, or begin it if there is none.", default=False, flags="--resume")
_PROMPTS = ("the same prompt", "the new prompt")
_SHOWN = 5  # samples that broke; --json and the report of --out show all


@verb("psopt optimize --dataset tickets.csv --text-column body --label-column team --trials 60")
def optimize(
    *,
    run: RunOptions,
    sizes: SizeOptions,
    prompt: str | None = OWN_PROMPT,
    reading: PromptOptions,
    heldout_from: Path | None = REPHRASINGS.rare(
        "Wordings of another source (a text file, one per line, or JSON): test tells S under them too.", "FILE"
    ),
    cache_dir: Path | None = CACHE_DIR,
    dry_run: bool = DRY_RUN,
    go_on: bool = _RESUME,
    force: bool = SEARCH.rare(
        "With --resume: even if data, model, rephrasings or version have changed.", default=False
    ),
    out: Path | None = _OUT,
    output: OutputOptions,
    verbose: bool = VERBOSE,
) -> int:
    """Search for prompts that are right, insensitive to wording and consistent.

    Writes a run directory with the Pareto front, scored on test under held-out rephrasings. It recommends one of its
    prompts if tests show that it is no worse than yours and better in something. Otherwise it tells you to keep yours.
    """
    from psopt.cli._run import run_search, show_run_estimate
    from psopt.rephrasings import given_wordings
    from psopt.runs import seeds_of
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
    model, lm, model_line = run.model, run.lm, ""
    if sources and (sources[0].measured or not is_given("model")):  # no model is assumed for a prompt of one's own
        choice = choose_model(run.model if is_given("model") else None, run.lm, sources)
        model, lm, model_line = choice.model, choice.lm, choice.line
    elif note := likelihood_note(model, lm):
        model_line = f"model {model}{note}"
    data = replace(data_for(run.data, sources), folder=str(Path.cwd()))
    search = run.search
    if not is_given("seed"):  # so that test samples are none that an earlier run has used to find the prompt
        search = replace(search, seed=seeds_of(sources, search.seed)[0])
    wordings, wordings_name = given_wordings(heldout_from or ())
    settings = run_settings(
        replace(run, data=data, model=model, lm=lm, search=search, log=tracker_names(run.log)),
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
    cache_dir: Path | None = CACHE_DIR,
    force: bool = SEARCH.first("Even if the data, the rephrasings or psopt's version have changed.", default=False),
    dry_run: bool = DRY_RUN,
    output: OutputOptions,
    verbose: bool = VERBOSE,
) -> int:
    """Resume an interrupted run, or add trials to a finished one.

    Answers that were paid for are not requested again. Limits count from the start of the run.
    """
    from psopt.api import settings_to_resume
    from psopt.cli._run import run_search, show_run_estimate

    settings = settings_to_resume(run, **anew)
    if settings.prompt:
        tell(f"prompt {settings.prompt_file or settings.prompt.id}, as the run keeps it")
    if dry_run:
        return show_run_estimate(settings, cache_dir, as_json=output.as_json, run=run)
    return run_search(settings, run, cache_dir, output, resume=True, force=force, verbose=verbose)


@verb("psopt worker --storage postgresql://user@host/db --study-name tickets")
def worker(
    *,
    storage: str = SEARCH.first("The Optuna storage that `psopt optimize` was given.", "URL", default=...),
    study_name: str = SEARCH.first("The study's name.", "NAME", default=...),
    trials: int | None = SEARCH.first(
        "Stop after so many of one's own", "N", least=1, shown_default="when all are done"
    ),
    dataset: str | None = DATA.first("Where the data are here", "D", shown_default="as in the study"),
    here: Here,
    cache_dir: Path | None = CACHE_DIR,
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
        why = "nothing is left to try in the study" if n_own != trials else "it was to stop then"
        typer.echo(f"This worker evaluated {counted(n_own, 'prompt')}; {why}.")
    return 0


@verb("psopt migrate runs/tickets --model openai/gpt-5.4-mini")
def migrate(
    *,
    run: RunFolder,
    model: str = MODEL.first(f"The new model: {MODELS}.", "M", default=...),
    pick: str = PICK,
    trials: int | None = SEARCH.first("Prompts to evaluate in total", "N", least=1, shown_default="the run's"),
    search: bool = SEARCH.first(
        "Whether to search from the run's prompt, or only measure it.", default=True, flags="--search/--no-search"
    ),
    go_on: bool = _RESUME,
    lm: LMConfig,
    cache_dir: Path | None = CACHE_DIR,
    dry_run: bool = DRY_RUN,
    out: Path | None = _OUT,
    output: OutputOptions,
    verbose: bool = VERBOSE,
) -> int:
    """Take a run's prompt to another model: what breaks there, and a search from there for a prompt that holds.

    The old model is not asked: its answers on test are read from the run. The new one is asked about the same samples
    under the same wordings, and tested to be no worse.
    """
    from psopt.api import start_migration
    from psopt.cli._plan_lines import show_estimate
    from psopt.cli._run import run_search
    from psopt.runs import free_folder, picked_prompt, read_source

    if not search and (trials or out or go_on):
        raise InputError("--no-search only measures: leave --trials, --out and --resume out")
    if go_on and out is None:
        raise InputError("--resume needs --out DIR, the search to resume")
    choice = choose_model(model, lm, [read_source(picked_prompt(run, pick))])
    tell(*filter(None, [choice.note]))
    command = shell_line(["psopt", *sys.argv[1:]])
    start = start_migration(run, model, choice.lm, pick, trials=trials, cache_dir=cache_dir, command=command)
    if dry_run:
        return show_estimate(start.estimate(search=search), model, choice.lm, as_json=output.as_json)
    if not search:
        with reading_bar() as on_progress:
            _show_migration(start.measured(on_progress), output)
        return 0
    folder = out or free_folder(Path("runs"), f"{start.setup.task.name}-{model}")
    hushed = replace(output, as_json=False, quiet=output.silent)
    code = run_search(
        start.setup.settings,
        folder,
        cache_dir,
        hushed,
        resume=go_on,
        force=False,
        task=start.setup.task,
        verbose=verbose,
        and_then=lambda: _show_migration(start.searched(folder), output),
    )
    if code == INTERRUPTED:
        again: list[object] = ["psopt", *sys.argv[1:]]
        if not out:
            again += ["--out", folder]
        if not go_on:
            again.append("--resume")
        tell(f"For the verdict against the old model as well: {shell_line(again)}")
    return code


def _show_migration(migration: Migration, output: OutputOptions) -> None:
    """Print one row per model and prompt, what broke, and the verdict on each; or all as JSON."""
    from psopt.cli._run import on_test
    from psopt.evaluation import note_size
    from psopt.runs import losses_line, named

    if output.as_json:
        print_json(migration.to_dict())
    if output.silent:
        return
    console = result_console()
    title = "On test, in percent, with 95 % intervals"
    table = new_table(title, texts=[""], numbers=[*in_percent(migration.before), "fixed", "broken"])
    table.add_row("old model", *on_test(migration.before), "", "")
    for name, each in zip(("new model", "new model, new prompt"), migration.moved, strict=False):
        table.add_row(name, *on_test(each.scores), str(each.count("fixed")), str(each.count("broken")))
    console.print()
    print_sentences(console, [f"The prompt of {migration.run}: from {migration.old_model} to {migration.new_model}."])
    print_table(console, table)
    print_sentences(console, [note_size(migration.before, limit=False)])
    for each, name in zip(migration.moved, _PROMPTS, strict=False):
        print_sentences(console, [_sentence(migration, each, name)], style="bold")
        if losses := losses_line([each.test.to_dict()], each.id, migration.before.quality_name):
            print_sentences(console, [named(losses, {each.id: name})])
    print_sentences(console, _broken(migration.moved[-1]))


def _sentence(migration: Migration, each: Moved, name: str) -> str:
    from psopt.runs import differences_line

    where = " for single classes" if each.test.f1.difference >= 0 else ""
    words = {
        "not worse": f"is not worse than {migration.old_model} was, tested at 5 %",
        "worse": f"is worse{where} than {migration.old_model} was",
        "not shown": f"is not shown to be as good as {migration.old_model} was; more test samples may settle it",
    }
    differences = differences_line(each.test.to_dict(), migration.before.quality_name)
    return f"{migration.new_model} with {name} {words[each.verdict]}: {differences}."


def _broken(moved: Moved) -> list[str]:
    broken = [sample for sample in moved.samples if sample["kind"] == "broken"]
    lines = []
    for sample in broken[:_SHOWN]:
        before, now = (f"{100 * share:.0f} %" for share in sample["right"])
        text = " ".join(str(sample["text"]).split())[:60]
        lines.append(f"Broken: {text!r}, {sample['label']}: right under {before} of the wordings, now {now}.")
    if len(broken) > _SHOWN:
        lines.append(f"And {len(broken) - _SHOWN} more broken (--json has all).")
    return lines
