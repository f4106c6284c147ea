"""`psopt migrate`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from psopt.cli._interrupting import INTERRUPTED
from psopt.cli._measuring import choose_model, reading_bar
from psopt.cli._options import CacheDir, DryRun, OutputOptions, Pick, RunFolder, Verbose
from psopt.cli._tables import new_table, print_sentences, print_table, result_console
from psopt.cli._verb import flag, verb
from psopt.cli._writing import print_json, tell
from psopt.errors import BudgetReachedError, InputError
from psopt.settings import MODELS, LMConfig
from psopt.text import shell_line

if TYPE_CHECKING:
    from psopt.api import Migration, MigrationStart, Moved

NewModel = Annotated[str, flag("Model", f"The new model: {MODELS}.", "M")]
Out = Annotated[Path | None, flag("Output", "The search's run directory", "DIR", show_default="runs/TASK-MODEL")]
Trials = Annotated[int | None, flag("Search", "Prompts to evaluate in total", "N", min=1, show_default="the run's")]
Searches = Annotated[
    bool, flag("Search", "Whether to search from the run's prompt, or only measure it.", flags="--search/--no-search")
]
Resume = Annotated[bool, flag("Search", "Resume the search in --out.", flags="--resume")]
_PROMPTS = ("the same prompt", "the new prompt")
_SHOWN = 5  # samples that broke; --json and the report of --out show all


@verb("psopt migrate runs/tickets --model openai/gpt-5.4-mini")
def migrate(
    *,
    run: RunFolder,
    model: NewModel,
    pick: Pick = "recommended",
    trials: Trials = None,
    search: Searches = True,
    go_on: Resume = False,
    lm: LMConfig,
    cache_dir: CacheDir = None,
    dry_run: DryRun = False,
    out: Out = None,
    output: OutputOptions,
    verbose: Verbose = False,
) -> int:
    """Take a run's prompt to another model: what breaks there, and a search from there for a prompt that holds.

    The old model is not asked: its answers on test are read from the run. The new one is asked about the same samples
    under the same wordings, and tested to be no worse.
    """
    from psopt.api import estimate_migration, measured_migration, start_migration
    from psopt.cli._plan_lines import show_estimate
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
        estimate = estimate_migration(start, cache_dir, search=search)
        return show_estimate(estimate, model, choice.lm, as_json=output.as_json)
    if not search:
        with reading_bar() as on_progress:
            _show(measured_migration(start, cache_dir, on_progress), output)
        return 0
    folder = out or free_folder(Path("runs"), f"{start.task.name}-{model}")
    code = _search(start, folder, cache_dir, output, resume=go_on, verbose=verbose)
    if code == INTERRUPTED:
        again: list[object] = ["psopt", *sys.argv[1:]]
        if not out:
            again += ["--out", folder]
        if not go_on:
            again.append("--resume")
        tell(f"For the verdict against the old model as well: {shell_line(again)}")
    return code


def _search(
    start: MigrationStart, folder: Path, cache_dir: Path | None, output: OutputOptions, *, resume: bool, verbose: bool
) -> int:
    """Search from the run's prompt, and show how what is found compares with the old model; also at a limit."""
    from psopt.api import migration_of
    from psopt.cli._run import run_search

    hushed = replace(output, as_json=False, quiet=output.silent)
    limit: BudgetReachedError | None = None
    try:
        code = run_search(
            start.settings, folder, cache_dir, hushed, resume=resume, force=False, task=start.task, verbose=verbose
        )
    except BudgetReachedError as error:
        if error.run is None:
            raise
        code, limit = 0, error
    if not code:
        _show(migration_of(start, folder), output)
    if limit:
        raise limit
    return code


def _show(migration: Migration, output: OutputOptions) -> None:
    """Print one row per model and prompt, what broke, and the verdict on each; or all as JSON."""
    from psopt.cli._run import on_test
    from psopt.evaluation import measure_names, note_size, objective_values
    from psopt.runs import losses_line, named

    if output.as_json:
        print_json(migration.to_dict())
    if output.silent:
        return
    console = result_console()
    titles = measure_names(migration.before.quality_name)
    names = [titles[name] for name in objective_values(migration.before)]
    title = "On test, in percent, with 95 % intervals"
    table = new_table(title, texts=[""], numbers=[*names, "fixed", "broken"])
    table.add_row("old model", *on_test(migration.before), "", "")
    for name, each in zip(("new model", "new model, new prompt"), migration.moved, strict=False):
        table.add_row(name, *on_test(each.scores), str(each.count("fixed")), str(each.count("broken")))
    console.print()
    print_sentences(console, [f"The prompt of {migration.run}: from {migration.old_model} to {migration.new_model}."])
    print_table(console, table)
    print_sentences(console, [note_size(migration.before, limit=False)])
    for each, name in zip(migration.moved, _PROMPTS, strict=False):
        print_sentences(console, [_sentence(migration, each, name)], style="bold")
        if losses := losses_line([each.test.to_dict()], each.id):
            print_sentences(console, [named(losses, {each.id: name})])
    print_sentences(console, _broken(migration.moved[-1]))


def _sentence(migration: Migration, each: Moved, name: str) -> str:
    """The verdict on a prompt on the new model."""
    from psopt.runs import differences_line

    words = {
        "not worse": f"is not worse than {migration.old_model} was, tested at 5 %",
        "worse": f"is worse than {migration.old_model} was",
        "not shown": f"is not shown to be as good as {migration.old_model} was; more test samples may settle it",
    }
    differences = differences_line(each.test.to_dict(), migration.before.quality_name)
    return f"{migration.new_model} with {name} {words[each.verdict]}: {differences}."


def _broken(moved: Moved) -> list[str]:
    """The samples that broke most."""
    broken = [sample for sample in moved.samples if sample["kind"] == "broken"]
    lines = []
    for sample in broken[:_SHOWN]:
        before, now = (f"{100 * share:.0f} %" for share in sample["right"])
        text = " ".join(str(sample["text"]).split())[:60]
        lines.append(f"Broken: {text!r}, {sample['label']}: right under {before} of the wordings, now {now}.")
    if len(broken) > _SHOWN:
        lines.append(f"And {len(broken) - _SHOWN} more broken (--json has all).")
    return lines
