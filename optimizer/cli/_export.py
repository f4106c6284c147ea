"""A prompt out of a run: `psopt select` chooses it, `psopt export` prints it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from psopt.cli._tables import new_table, plain_console, print_table, result_console
from psopt.cli._verb import CACHE_DIR, PICK, Changes, OutputOptions, RunFolder, verb
from psopt.cli._writing import as_json_text, is_utf8, print_json, write_file
from psopt.errors import InputError
from psopt.settings import OUTPUT, PROMPT, LMConfig
from psopt.text import counted, one_line, shell_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.api import Exported


FormatName = Literal["json", "text", "dspy", "openai", "promptfoo"]
Asked = Annotated[dict[str, Any], Changes("export", (LMConfig,), "the run's")]
Query = Annotated[str, typer.Argument(metavar="WISH", help="What is asked of it; see above.")]
_MOST_SHOWN = 3  # answers that differ; their total number is also shown


@verb("psopt export runs/trec-minilm --pick sensitivity --format json > prompt.json")
def export(
    *,
    run: RunFolder,
    pick: str = PICK,
    form: FormatName | None = OUTPUT.first(
        "text to paste, json to use with psopt, dspy for program.load(), openai for chat messages, promptfoo for the "
        "run's configuration with a further prompt",
        flags="--format",
        shown_default="as the prompt came, else text",
    ),
    diff: bool = OUTPUT.first("Print what changed against the original instead.", default=False),
    why: bool = OUTPUT.first(
        "List the prompt's edits instead: what each was drawn from, and what speaks against.", default=False
    ),
    without: list[str] | None = PROMPT.first(
        "Leave an edit out, by its id (see --why); may be repeated. What is left was not measured.",
        "EDIT",
        repeats=True,
    ),
    verify: int | None = PROMPT.first(
        "Ask for so many of the run's samples through the exported text; exit code 1 unless the answers are the run's.",
        "N",
        least=1,
    ),
    out: Path | None = OUTPUT.first("Write it there; into a folder under a name of its own.", "FILE"),
    into: Path | None = OUTPUT.first("Add the prompt to this promptfooconfig.yaml, after those that it has.", "FILE"),
    asked: Asked,
    cache_dir: Path | None = CACHE_DIR,
    as_json: bool = OUTPUT.first("Print the prompt with its edits and scores as JSON.", default=False, flags="--json"),
) -> int:
    """Print a run's prompt: in the format that it came in, as text to paste, or as JSON to use elsewhere.

    Your own prompt comes back as your file with the additions, its fields unfilled. In psopt's own form the text is the
    part before the sample.

    The format dspy is a program state for `program.load()`: of the program that was optimized, or of a dspy.Predict
    with the prompt's fields, or the samples' noun, as input and `label` as output. In the format openai {text} stands
    for the text, and your own prompt keeps its fields. In a promptfoo configuration it becomes a further prompt;
    comments and everything else stay.
    """
    import psopt.api as api

    if form == "dspy" and (diff or verify):
        option = "--diff" if diff else "--verify"
        raise InputError(
            f"{option} is for a prompt's text, and --format dspy is a program's state: leave one of them out"
        )
    if into is not None and (out is not None or diff or why or form not in {None, "promptfoo"}):
        raise InputError("--into adds the prompt to a file: leave --out, --diff, --why and another --format out")
    others = {"--out": out, "--diff": diff, "--verify": verify}
    if why and any(others.values()):
        other = next(option for option, value in others.items() if value)
        raise InputError(f"--why lists the edits instead of the prompt: leave {other} out")
    written: Any = "own" if form in {None, "dspy"} else form
    exported = api.export(
        run, pick, form=written, without=without or (), verify=verify or 0, into=into, cache_dir=cache_dir, **asked
    )
    if into is not None:
        write_file("--into", into, exported.text)
    text, suffix = exported.text, exported.suffix
    if form == "dspy":
        from psopt.dspy_programs import PROGRAMS, predict_state

        file, suffix = run / PROGRAMS / f"{exported.id}.json", ".json"
        state = json.loads(file.read_text("utf-8")) if file.is_file() else predict_state(exported.prompt)
        text = as_json_text(state) + "\n"
    if out is not None:
        if out.is_dir():
            out /= f"{exported.id}{suffix}"
        write_file("--out", out, exported.diff if diff else text)
    if as_json:
        print_json(_entry(run, exported, text, diff=diff))
    elif why:
        typer.echo("\n".join(_reasons(exported)))
    else:
        _show(exported, text, suffix, out, into, diff=diff)
    return int(exported.verification is not None and not exported.verification.holds)


def _entry(run: Path, exported: Exported, text: str, *, diff: bool) -> dict[str, Any]:
    from psopt.runs import read_entry

    if exported.prompt.template is None:
        text = text.removesuffix("\n")
    try:
        measured = dict(read_entry(run, exported.id))
    except InputError:  # not among the run's prompts, since edits were left out
        edits = [edit.to_dict() for edit in exported.edits]
        measured = {"id": exported.id, "edits": edits, "prompt": exported.prompt.to_dict()}
    data = {
        "run": str(run),
        **measured,
        "notes": list(exported.notes),
        "text": text,
        "call": {"before": exported.before.to_dict(), "after": exported.after.to_dict()},
    }
    if diff:
        data["diff"] = exported.diff
    if exported.verification is not None:
        data["verification"] = exported.verification.to_dict()
    return data


def _reasons(exported: Exported) -> list[str]:
    """One paragraph per edit: its id, its text, its origin, and the evidence in train for and against it."""
    lines = []
    for edit in exported.edits:
        origin = edit.provenance
        kind = f"{edit.kind} of {edit.label}" if edit.kind in {"definition", "example"} else edit.kind
        drawn = f"by {origin.author}"
        if origin.samples:
            drawn += f", drawn from {counted(len(origin.samples), 'text')} of train"
        if origin.support:
            have = f"its phrases and its label are in {counted(origin.support, 'text')} of train"
            drawn += f"; {have}, its phrases and another label in {len(origin.counter)}"
            if origin.counter:
                drawn += f" ({', '.join(origin.counter[:_MOST_SHOWN])})"
        lines += [f"{edit.id}  {kind}: {one_line(edit.text)}", f"    {drawn}", ""]
    return lines[:-1] or ["This prompt has no edits: it is the original."]


def _show(exported: Exported, text: str, suffix: str, out: Path | None, into: Path | None, *, diff: bool) -> None:
    if into is not None:
        typer.echo(f"{into}: added as psopt-{exported.prompt.id}")
    elif out is not None:
        typer.echo(out)
    elif diff:
        _print_diff(exported.diff)
    else:
        _print(text, suffix)
    for line in _notes(exported, diff=diff):
        typer.echo(line, err=True)


def _print(text: str, suffix: str) -> None:
    """Print a file's content unchanged; JSON with escapes if standard output cannot show it."""
    if suffix == ".json" and not is_utf8():
        text = f"{as_json_text(json.loads(text))}\n"
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError as error:
        lacking = f"{sys.stdout.encoding} has no {text[error.start]!a}"
        typer.echo(f"Note: the prompt was changed to be shown: {lacking}. Write it with --out FILE.", err=True)
    is_open = sys.stdout.isatty() and not text.endswith("\n")  # otherwise the shell's prompt follows on the same line
    typer.echo(text, nl=is_open)


def _notes(exported: Exported, *, diff: bool) -> list[str]:
    """Notes on the prompt: its format, its length before and after, how its answers compare."""
    lines = [f"Note: {note}" for note in exported.notes]
    if diff and not exported.diff:
        is_calibrated = any(edit.kind == "calibration" for edit in exported.edits)
        unchanged = "The text is unchanged; only calibration was added."
        lines.append(unchanged if is_calibrated else "Nothing changed: this is the original.")
    lines.append(f"Length: {exported.length}")
    if (verification := exported.verification) is not None:
        lines.append(verification.line)
        shown = verification.others[:_MOST_SHOWN]
        lines += [f"  sample {answer.sample}: {answer.before} in the run, {answer.now} now" for answer in shown]
    return lines


def _print_diff(diff: str) -> None:
    console = plain_console()
    if not console.is_terminal:
        typer.echo(diff, nl=False)
        return
    styles = {"+": "green", "-": "red", "@": "cyan", "\\": "dim"}
    for number, line in enumerate(diff.splitlines()):
        style = styles.get(line[:1], "") if number >= 2 else "bold"  # the first two name the files
        console.print(line, style=style, soft_wrap=True)


@verb("psopt select runs/trec-minilm 'max F1 with S <= .05 and tokens < 500'")
def select(*, run: RunFolder, query: Query = "knee", output: OutputOptions) -> int:
    """Select a prompt of a run's front by what is asked of it, and print its id and scores.

    WISH is something like 'max F1 with S <= .05': the best by one measure among prompts within bounds on others.
    Measures are F1, S, C and tokens (of the prompt without a text), all on val, so that test does not influence the
    choice. Or: knee (the default), recommended, short, original, f1, sensitivity, consistency, an id.
    """
    from psopt.runs import read_entry

    entry = read_entry(run, query)
    if output.as_json:
        print_json({"run": str(run), "wish": query, **entry})
    elif output.quiet:
        typer.echo(entry["id"])
    else:
        _show_entry(run, entry)
    return 0


def _show_entry(run: Path, entry: Mapping[str, Any]) -> None:
    from psopt.evaluation import measure_names, objective_values
    from psopt.runs import MANIFEST, RunDirectory, quality_name

    console = result_console()
    quality = quality_name(RunDirectory.open(run).read_json(MANIFEST))
    objectives = list(objective_values(entry["val"]))
    measures = [measure_names(quality)[name] for name in objectives]
    title = f"{entry['id']}: {counted(len(entry['edits']), 'edit')}"
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
