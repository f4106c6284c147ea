"""What came out of a run: the front as a table, where the files are, what to do next."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from psopt.answers import AnswerType
from psopt.cli._tables import new_table, print_sentences, print_table
from psopt.evaluation import beside_quality_line, na_lines, na_note, objective_values, shares_lines
from psopt.rephrasings import tame_note
from psopt.runs import (
    MANIFEST,
    CallPrice,
    RunDirectory,
    asked_about,
    asked_for_lines,
    look_lines,
    named,
    price_line,
    prompt_names,
    quality_name,
    short_line,
    unasked_lines,
    verdict_lines,
)
from psopt.search import size_lines
from psopt.search.racing import racing_line
from psopt.text import shell_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from psopt.evaluation import Scores
    from psopt.runs import Run
    from psopt.search import Candidate
    from rich.console import Console
    from rich.table import Table


def show_result(run: Run, console: Console, spent: str = "", *, verbose: bool = False) -> None:
    """Print the table, what to use and what got worse, and what to do next; with `verbose` all that is known."""
    knee = run.pick("knee")
    is_kept = run.recommended.id == run.baseline.id
    chosen = knee if is_kept else run.recommended
    manifest = RunDirectory.open(run.path).read_json(MANIFEST)
    names = prompt_names(manifest)
    prices = _prices(run)
    quality = quality_name(manifest)
    print_table(console, _front_table(run, knee, prices, quality, names))
    print_sentences(console, _notes(run, chosen, names), style="yellow")
    console.print()
    verdict = verdict_lines(run.recommendation.to_dict(), quality) if run.recommendation else []
    _print(console, names, verdict[:1], style="bold")
    _print(console, names, [*verdict[1:], *asked_for_lines(manifest)])
    note = tame_note((manifest["rephrasings"].get("diversity") or {}).get("heldout"))
    if note:
        print_sentences(console, [f"S: {note}."], style="yellow")
    print_sentences(console, [_about(run, knee, manifest)])
    if verbose:
        _print(console, names, _further_lines(run, knee, chosen, manifest, prices, names, spent))
        ids = ", ".join(f"{name} {prompt_id}" for prompt_id, name in names.items())
        print_sentences(console, [f"Ids: {ids}."])
    folder = shell_line([run.path])
    console.print(f"Report: {run.path / 'report.html'}", markup=False, soft_wrap=True)
    console.print(f"Next: {_next(run, knee, folder)}", markup=False, soft_wrap=True)


def _print(console: Console, names: Mapping[str, str], lines: Sequence[str], style: str | None = None) -> None:
    """Print sentences, prompts by their names."""
    print_sentences(console, [named(line, names) for line in lines], style=style)


def _about(run: Run, knee: Candidate, manifest: Mapping[str, Any]) -> str:
    """Which model all this is about, and what the signs in the table mean."""
    model = manifest["model"]
    of_what = (
        "minilm, an embedding model for demonstrations: measure on the model that you use"
        if model == "minilm"
        else model
    )
    meanings = {">": "recommended", "*": "best compromise (knee)", "°": "shortest that is no worse"}
    used = {_sign(run, knee, candidate) for candidate in (*run.front, run.short, run.recommended)}
    signs = ", ".join(f"{sign} {meaning}" for sign, meaning in meanings.items() if sign in used)
    if over := run.baseline.val.over:
        which = "each of the model that is worst in it" if over == "worst" else "the means over the models"
        of_what = f"{model}: F1, S and C are {which}"
    return f"Measured with {of_what}.{f' {signs}.' if signs else ''} More with --verbose, and in the report."


def _further_lines(
    run: Run,
    knee: Candidate,
    chosen: Candidate,
    manifest: Mapping[str, Any],
    prices: Mapping[str, CallPrice],
    names: Mapping[str, str],
    spent: str,
) -> list[str]:
    """What else is known: calibration apart, what short costs, sizes, lengths, racing, what was spent, ids."""
    name = names[chosen.id]
    lines = unasked_lines(manifest)
    if run.recommendation:
        lines += look_lines(run.recommendation.to_dict())
    lines += _choice_lines(run, knee, manifest)
    lines += size_lines({"original": run.baseline, name: chosen})
    lines += _beside_quality(run.baseline, name, chosen)
    if chosen.id != run.baseline.id:
        lines.append(f"Length, original -> {name}: {price_line(prices[run.baseline.id], prices[chosen.id])}.")
    if race := manifest.get("race"):
        line = racing_line(race)
        lines.append(f"{line[0].upper()}{line[1:]}.")
    if spent:
        lines.append(spent)
    return lines


def _next(run: Run, knee: Candidate, folder: str) -> str:
    """What to do next: take what is recommended, or look at what was found where that is the baseline."""
    if run.recommended.id == run.baseline.id != knee.id:
        return f"psopt export {folder} --pick knee --diff   # what was found, to look at"
    return f"psopt export {folder} {'--format text' if knee.prompt.template is None else '--diff'}"


def _choice_lines(run: Run, knee: Candidate, manifest: Mapping[str, Any]) -> list[str]:
    """What short costs, and how answers are scored."""
    lines = ["Test: unseen samples, held-out rephrasings."]
    if answers := AnswerType.from_dict(manifest.get("answers")).note:
        lines.append(f"{answers}.")
    if run.short.id != knee.id:
        line = f"{run.short.id} is the shortest that is no worse than the knee by more than one standard error on val"
        if against_knee := manifest.get("short_against_knee"):
            line = f"{line}; on test against the knee, in points: {short_line(against_knee, quality_name(manifest))}"
        lines.append(f"{line}.")
    return lines


def _beside_quality(baseline: Candidate, name: str, chosen: Candidate) -> list[str]:
    """What stands beside quality on test; nothing of labels without an order."""
    shown = {"original": baseline} if chosen.id == baseline.id else {"original": baseline, name: chosen}
    measured = [candidate.test.to_dict() for candidate in shown.values() if candidate.test]
    line = beside_quality_line(*measured) if len(measured) == len(shown) else ""
    return [f"On test, {' -> '.join(shown)}: {line}."] if line else []


def _prices(run: Run) -> dict[str, CallPrice]:
    """What a call of each prompt takes, by its id."""
    model, around = asked_about(RunDirectory.open(run.path))
    shown = (run.baseline, *run.front, run.short, run.recommended)
    return {candidate.id: CallPrice.of(candidate.prompt, model, around) for candidate in shown}


def _front_table(
    run: Run, knee: Candidate, prices: Mapping[str, CallPrice], quality: str, names: Mapping[str, str]
) -> Table:
    # "closeness" is longer than F1, and 80 columns are full
    measures = [f"{quality} on test" if quality == "F1" else quality, "S on test"]
    if run.baseline.val.consistency is not None:
        measures.append("C on test")
    columns = ["edits", "tokens", *measures, f"{quality}/S/C on val" if quality == "F1" else "on val"]
    table = new_table("Prompts in percent: chosen on val, reported on test", texts=["prompt"], numbers=columns)
    # By id: the baseline stands first, and last what is not on the front.
    shown = {candidate.id: candidate for candidate in (run.baseline, *run.front, run.short, run.recommended)}
    for candidate in shown.values():
        is_recommended = candidate.id == run.recommended.id != run.baseline.id
        cells = [
            names[candidate.id] + _sign(run, knee, candidate),
            str(len(candidate.edits)),
            str(prices[candidate.id].tokens),
            *(on_test(candidate.test) if candidate.test else ["–"] * len(objective_values(candidate.val))),
            _on_val(candidate),
        ]
        table.add_row(*cells, style="bold green" if is_recommended else None)
    return table


def _sign(run: Run, knee: Candidate, candidate: Candidate) -> str:
    """What marks a prompt in the table; one sign, so that a row fits into 80 columns."""
    signs = {run.short.id: "°", knee.id: "*", run.recommended.id: ">"}
    if run.recommended.id == run.baseline.id:  # that it stays is said below
        signs = {run.short.id: "°", knee.id: "*"}
    return signs.get(candidate.id, "")


def _notes(run: Run, found: Candidate, names: Mapping[str, str]) -> list[str]:
    """What answers that name no label said: all for the original prompt and the chosen one, a line for others."""
    chosen = {"original": run.baseline, names[found.id]: found} if found.id != run.baseline.id else {"": run.baseline}
    notes = []
    for name, candidate in chosen.items():
        scores = candidate.test or candidate.val
        notes += [f"{name}: {line}" if name else line for line in na_lines(scores.to_dict())]
    for candidate in run.front:
        scores = candidate.test or candidate.val
        note = na_note(scores.na_rate, scores.na_kinds)
        if note and candidate.id not in {run.baseline.id, found.id}:
            notes.append(f"{names[candidate.id]}: {note}")
    shown = {"The original prompt": run.baseline, f"Prompt {names[found.id]}": found}
    reason = run.recommendation.verdict.reason if run.recommendation else ""
    told = {name: (of.test or of.val).to_dict() for name, of in itertools.islice(shown.items(), len(chosen))}
    return [*notes, *shares_lines(told, reason)]


def on_test(scores: Scores) -> list[str]:
    """The measures in percent, each with its interval."""
    cells = []
    for name, value in objective_values(scores).items():
        cell = _percent(value)
        if name in scores.ci:
            low, high = scores.ci[name]
            cell += f" {100 * low:.0f}–{100 * high:.0f}"
        cells.append(cell)
    return cells


def _on_val(candidate: Candidate) -> str:
    return " ".join(_percent(value) for value in objective_values(candidate.val).values())


def _percent(share: float) -> str:
    """A share in percent; the whole without decimals, so that a row of it fits into 80 columns."""
    text = f"{100 * share:.1f}"
    return text.removesuffix(".0") if text == "100.0" else text
