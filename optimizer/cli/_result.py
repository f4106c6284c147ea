"""What came out of a run: the front as a table, where the files are, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.answers import AnswerType
from psopt.cli._tables import print_sentences, print_table
from psopt.evaluation import beside_quality_line, na_lines, na_note, objective_values, shares_line
from psopt.rephrasings import tame_note
from psopt.runs import (
    MANIFEST,
    CallPrice,
    RunDirectory,
    asked_about,
    beside_verdict_lines,
    price_line,
    quality_name,
    recommendation_lines,
    short_line,
)
from psopt.search import racing_line, size_lines
from psopt.text import shell_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from psopt.runs import Run
    from psopt.search import Candidate
    from rich.console import Console
    from rich.table import Table


def show_result(run: Run, console: Console, spent: str = "") -> None:
    """Print it, with a line on what was planned and what was spent."""
    knee = run.pick("knee")
    is_kept = run.recommended.id == run.baseline.id
    name, chosen = ("knee", knee) if is_kept else ("recommended", run.recommended)
    prices = _prices(run)
    manifest = RunDirectory.open(run.path).read_json(MANIFEST)
    quality = quality_name(manifest)
    print_table(console, _front_table(run, knee, prices, quality))
    for line in _notes(run, chosen):
        console.print(line, style="yellow", markup=False, soft_wrap=True)
    console.print()
    print_sentences(console, _recommended(run, quality), style="bold")
    print_sentences(console, beside_verdict_lines(manifest))
    note = tame_note((manifest["rephrasings"].get("diversity") or {}).get("heldout"))
    if note:
        print_sentences(console, [f"S: {note}."], style="yellow")
    print_sentences(console, _choice_lines(run, knee, manifest))
    print_sentences(console, size_lines({"original prompt": run.baseline, name: chosen}))
    print_sentences(console, _beside_quality(run.baseline, name, chosen))
    before, after = prices[run.baseline.id], prices[chosen.id]
    print_sentences(console, [f"Length, original prompt -> {name}: {price_line(before, after)}."])
    if race := manifest.get("race"):
        line = racing_line(race)
        print_sentences(console, [f"{line[0].upper()}{line[1:]}."])
    if spent:
        print_sentences(console, [spent])
    folder = shell_line([run.path])
    console.print(f"Report: {run.path / 'report.html'}", markup=False, soft_wrap=True)
    console.print(f"Next: {_next(run, knee, folder)}", markup=False, soft_wrap=True)
    console.print(f"      psopt dashboard {folder}", markup=False, soft_wrap=True)


def _recommended(run: Run, quality: str) -> list[str]:
    """What the gate has decided, with the table's sign for it."""
    sentences = recommendation_lines(run.recommendation.to_dict(), quality) if run.recommendation else []
    return sentences if run.recommended.id == run.baseline.id else [f"> {sentences[0]}", *sentences[1:]]


def _next(run: Run, knee: Candidate, folder: str) -> str:
    """What to do next: take what is recommended, or look at what was found where that is the baseline."""
    if run.recommended.id == run.baseline.id != knee.id:
        return f"psopt export {folder} --pick knee --diff   # what was found, to look at"
    return f"psopt export {folder} {'--format text' if knee.prompt.template is None else '--diff'}"


def _choice_lines(run: Run, knee: Candidate, manifest: Mapping[str, Any]) -> list[str]:
    """What the signs in the table mean, and what short costs."""
    sign = _sign(run, knee, knee)
    lines = [f"{sign} the knee, the best compromise. Test: unseen samples, held-out rephrasings."]
    if answers := AnswerType.from_dict(manifest.get("answers")).note:
        lines.append(f"{answers}.")
    if run.short.id != knee.id:
        sign = _sign(run, knee, run.short)
        line = f"{sign} the shortest prompt that is no worse than the knee by more than one standard error on val"
        if against_knee := manifest.get("short_against_knee"):
            line = f"{line}; on test against the knee, in points: {short_line(against_knee, quality_name(manifest))}"
        lines.append(f"{line}.")
    return lines


def _beside_quality(baseline: Candidate, name: str, chosen: Candidate) -> list[str]:
    """What stands beside quality on test; nothing of labels without an order."""
    shown = {"original prompt": baseline} if chosen.id == baseline.id else {"original prompt": baseline, name: chosen}
    measured = [candidate.test.to_dict() for candidate in shown.values() if candidate.test]
    line = beside_quality_line(*measured) if len(measured) == len(shown) else ""
    return [f"On test, {' -> '.join(shown)}: {line}."] if line else []


def _prices(run: Run) -> dict[str, CallPrice]:
    """What a call of each prompt takes, by its id."""
    model, around = asked_about(RunDirectory.open(run.path))
    shown = (run.baseline, *run.front, run.short, run.recommended)
    return {candidate.id: CallPrice.of(candidate.prompt, model, around) for candidate in shown}


def _front_table(run: Run, knee: Candidate, prices: Mapping[str, CallPrice], quality: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title="The front, in percent: chosen on val, reported on test",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),  # so that all columns fit into 80
        pad_edge=False,
        show_edge=False,
    )
    table.add_column("prompt", no_wrap=True)
    # "closeness" is longer than F1, and 80 columns are full
    on_test = [f"{quality} on test" if quality == "F1" else quality, "S on test"]
    if run.baseline.val.consistency is not None:
        on_test.append("C on test")
    for name in ("edits", "tokens", *on_test, f"{quality}/S/C on val" if quality == "F1" else "on val"):
        table.add_column(name, justify="right", no_wrap=True)
    # By id: the baseline stands first, and last what is not on the front.
    shown = {candidate.id: candidate for candidate in (run.baseline, *run.front, run.short, run.recommended)}
    for candidate in shown.values():
        is_recommended = candidate.id == run.recommended.id != run.baseline.id
        name = "baseline" if candidate.id == run.baseline.id else candidate.id
        cells = [
            name + _sign(run, knee, candidate),
            str(len(candidate.edits)),
            str(prices[candidate.id].tokens),
            *_on_test(candidate),
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


def _notes(run: Run, found: Candidate) -> list[str]:
    """What answers that name no label said: all for the original prompt and the chosen one, a line for others."""
    chosen = {"baseline": run.baseline, found.id: found} if found.id != run.baseline.id else {"": run.baseline}
    notes = []
    for name, candidate in chosen.items():
        scores = candidate.test or candidate.val
        notes += [f"{name}: {line}" if name else line for line in na_lines(scores.to_dict())]
    for candidate in run.front:
        scores = candidate.test or candidate.val
        note = na_note(scores.na_rate, scores.na_kinds)
        if note and candidate.id not in {run.baseline.id, found.id}:
            notes.append(f"{candidate.id}: {note}")
    shown = {"The original prompt": run.baseline, f"The prompt {found.id}": found}
    lines = [shares_line((of.test or of.val).to_dict(), name) for name, of in shown.items()]
    return [*notes, *filter(None, lines[: len(chosen)])]


def _on_test(candidate: Candidate) -> list[str]:
    scores = candidate.test
    if scores is None:
        return ["–"] * len(objective_values(candidate.val))
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
