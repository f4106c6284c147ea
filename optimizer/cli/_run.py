"""A run that the command line starts or resumes, and its result: the front as a table, where it is, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import psopt.api as api
from psopt.answers import AnswerType
from psopt.cli._main import INTERRUPTED
from psopt.cli._plan_lines import cost_lines, show_estimate
from psopt.cli._screen import Screen
from psopt.cli._tables import in_percent, new_table, print_sentences, print_table, result_console
from psopt.cli._writing import print_json, warn
from psopt.errors import BudgetReachedError, InputError
from psopt.evaluation import (
    Scores,
    beside_quality_line,
    lone_classes_line,
    na_lines,
    na_note,
    objective_values,
    shares_lines,
)
from psopt.rephrasings import tame_note
from psopt.runs import (
    MANIFEST,
    CallPrice,
    CostEstimate,
    Run,
    RunDirectory,
    RunSettings,
    asked_about,
    asked_for_lines,
    check_no_run,
    look_lines,
    named,
    price_line,
    prompt_names,
    quality_name,
    unasked_lines,
    verdict_lines,
    worse_line,
)
from psopt.search import Candidate, size_line
from psopt.search.racing import racing_line
from psopt.text import percent, shell_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from psopt.cli._verb import OutputOptions
    from psopt.runs.planning import Plan
    from psopt.settings import SizeOptions
    from psopt.tasks import Task
    from rich.table import Table


def show_run_estimate(
    settings: RunSettings,
    cache_dir: Path | None,
    sizes: SizeOptions | None = None,
    *,
    as_json: bool,
    run: Path | None = None,
    task: Task | None = None,
) -> int:
    """Say what a run, or the rest of one, would cost."""
    if settings.program:
        raise InputError("--dry-run does not know how often a --program calls its model; use --max-calls")
    task = task or settings.load_task()
    warn(task.info.note)
    plan = api.plan_run(task, settings, sizes, cache_dir) if sizes else None
    estimate = plan.estimate if plan else api.estimate_run(task, settings, cache_dir, run=run)
    return show_estimate(estimate, settings.model, settings.lm, as_json=as_json, plan=plan)


def run_search(
    settings: RunSettings,
    out: Path | None,
    cache_dir: Path | None,
    output: OutputOptions,
    sizes: SizeOptions | None = None,
    *,
    resume: bool,
    force: bool,
    task: Task | None = None,
    verbose: bool = False,
    and_then: Callable[[], None] = lambda: None,
) -> int:
    """Start or resume a run, show its progress and its result, and then more, also at a limit; plan the `sizes`."""
    screen = Screen(quiet=output.silent)
    task = task or settings.load_task()

    def expect(estimate: CostEstimate, plan: Plan | None) -> None:
        screen.expect(estimate, cost_lines(estimate, settings.model, settings.lm), plan)

    with screen:
        try:
            if settings.program:
                from psopt.dspy_programs import optimize_program

                if out is not None and not resume:
                    check_no_run(out)
                result = optimize_program(task, settings, out=out, cache_dir=cache_dir, observer=screen, force=force)
            else:
                result = api.run(
                    task,
                    settings,
                    sizes,
                    out=out,
                    cache_dir=cache_dir,
                    resume=resume,
                    force=force,
                    observer=screen,
                    on_plan=None if output.silent else expect,
                )
        except KeyboardInterrupt:
            if screen.interrupted():
                return INTERRUPTED
            raise
        except BudgetReachedError as error:
            if error.run is not None:
                show_result(error.run, output, verbose=verbose)
                and_then()
            raise
    show_result(result, output, verbose=verbose)
    and_then()
    return 0


class _Result(NamedTuple):
    """A run, and the facts about it that are shown in several places."""

    run: Run
    manifest: dict[str, Any]  # run.json
    names: Mapping[str, str]  # of the run's prompts, by their ids
    prices: Mapping[str, CallPrice]  # of one call with each prompt
    quality: str  # what replaces F1
    knee: Candidate
    chosen: Candidate  # the recommended prompt, or the best found if that is the original prompt

    @classmethod
    def of(cls, run: Run) -> _Result:
        """Read what the run object lacks."""
        directory = RunDirectory.open(run.path)
        manifest = directory.read_json(MANIFEST)
        model, around = asked_about(directory)
        prices = {candidate.id: CallPrice.of(candidate.prompt, model, around) for candidate in _all_of(run)}
        knee = run.pick("knee")
        return cls(run, manifest, prompt_names(manifest), prices, quality_name(manifest), knee, run.shown)

    @property
    def compared(self) -> list[Candidate]:
        """The original prompt, and the chosen one if it differs."""
        return [self.run.baseline] if self.chosen.id == self.run.baseline.id else [self.run.baseline, self.chosen]

    def sign(self, candidate: Candidate) -> str:
        """A prompt's mark in the table; one character, so that a row fits into 80 columns."""
        signs = {self.run.short.id: "°", self.knee.id: "*"}
        if self.run.recommended.id != self.run.baseline.id:  # that the original prompt stays is stated below
            signs[self.run.recommended.id] = ">"
        return signs.get(candidate.id, "")


def _all_of(run: Run) -> list[Candidate]:
    """The original prompt first, and prompts that are not on the front last."""
    by_id = {candidate.id: candidate for candidate in (run.baseline, *run.front, run.short, run.recommended)}
    return list(by_id.values())


def show_result(run: Run, output: OutputOptions, *, verbose: bool) -> None:
    """Print the table, what to use, what got worse and what to do next, with `verbose` everything; or run.json."""
    if output.as_json:
        print_json({"run": str(run.path), **RunDirectory.open(run.path).read_json(MANIFEST)})
    if output.silent:
        return
    console, result = result_console(), _Result.of(run)
    names, manifest = result.names, result.manifest

    def say(lines: Sequence[str], style: str | None = None) -> None:
        """Print sentences, with prompts called by their names."""
        print_sentences(console, [named(line, names) for line in lines if line], style=style)

    print_table(console, _front_table(result))
    print_sentences(console, _notes(result), style="yellow")
    console.print()
    if run.recommendation:
        first, *further = verdict_lines(run.recommendation.to_dict(), result.quality)
        say([first], style="bold")
        say(further)
    say([*asked_for_lines(manifest), "" if verbose else worse_line(manifest)])
    if note := tame_note((manifest["rephrasings"].get("diversity") or {}).get("heldout")):
        print_sentences(console, [f"S: {note}."], style="yellow")
    print_sentences(console, [_about(result)])
    if verbose:
        say(_further_lines(result))
        ids = ", ".join(f"{name} {prompt_id}" for prompt_id, name in names.items())
        print_sentences(console, [f"Ids: {ids}."])
    console.print(f"Report: {run.path / 'report.html'}", soft_wrap=True)
    console.print(f"Next: {_next(result)}", soft_wrap=True)


def _about(result: _Result) -> str:
    """Which model the result is for, and what the marks in the table mean."""
    of_what = model = result.manifest["model"]
    if model == "minilm":
        of_what = "minilm, an embedding model for demonstrations: measure on the model that you use"
    which = {"worst": "each of the model that is worst in it", "mean": "the means over the models"}
    scores = result.run.baseline.val
    if scores.over:
        of_what = f"{model}: {scores.quality_name}, S and C are {which[scores.over]}"
    sentences = [f"Measured with {of_what}."]
    meanings = {">": "recommended", "*": "best compromise (knee)", "°": "shortest that is no worse"}
    used = {result.sign(candidate) for candidate in _all_of(result.run)}
    if signs := ", ".join(f"{sign} {meaning}" for sign, meaning in meanings.items() if sign in used):
        sentences.append(f"{signs}.")
    return " ".join([*sentences, "More with --verbose, and in the report."])


def _further_lines(result: _Result) -> list[str]:
    """Further facts: calibration alone, the short prompt's cost, sizes, how answers are scored, lengths, racing."""
    run, manifest, chosen = result.run, result.manifest, result.chosen
    name = result.names[chosen.id]
    lines = unasked_lines(manifest)
    if run.recommendation:
        lines += look_lines(run.recommendation.to_dict())
    lines.append("Test: unseen samples, held-out rephrasings.")
    if answers := AnswerType.from_dict(manifest.get("answers")).note:
        lines.append(f"{answers}.")
    if run.short.id != result.knee.id:
        lines.append(
            f"{run.short.id} is the shortest that is no worse than the knee by more than one standard error on val."
        )
    lines.append(size_line(run.baseline))
    tested = {result.names[of.id]: of.test.to_dict() for of in result.compared if of.test}
    if len(tested) == len(result.compared) and (beside := beside_quality_line(*tested.values())):
        lines.append(f"On test, {' -> '.join(tested)}: {beside}.")
    if chosen.id != run.baseline.id:
        length = price_line(result.prices[run.baseline.id], result.prices[chosen.id])
        lines.append(f"Length, original -> {name}: {length}.")
    if (race := manifest.get("race")) and (line := racing_line(race)):
        lines.append(f"{line[0].upper()}{line[1:]}.")
    return lines


def _next(result: _Result) -> str:
    """What to do next: use the recommended prompt, or inspect what was found if that is the baseline."""
    run, chosen = result.run, result.chosen
    folder = shell_line([run.path])
    if run.recommended.id == run.baseline.id:
        if chosen.id == run.baseline.id:  # there is nothing to export
            return f"psopt report {folder}"
        return f"psopt export {folder} --pick {chosen.id} --diff   # what was found, to look at"
    return f"psopt export {folder} {'--format text' if chosen.prompt.template is None else '--diff'}"


def _front_table(result: _Result) -> Table:
    run, quality = result.run, result.quality
    measures, of_val = ["F1 on test", "S on test"], "F1/S/C on val"
    if quality != "F1":  # "closeness" is longer, and 80 columns are full
        measures[0], of_val = quality, "on val"
    if run.baseline.val.consistency is not None:
        measures.append("C on test")
    columns = ["edits", "tokens", *measures, of_val]
    table = new_table("Prompts in percent: chosen on val, reported on test", texts=["prompt"], numbers=columns)
    for candidate in _all_of(run):
        name = result.names[candidate.id] + result.sign(candidate)
        tokens = str(result.prices[candidate.id].tokens)
        tested = on_test(candidate.test) if candidate.test else ["–"] * len(measures)
        on_val = _shorter(" ".join(map(percent, objective_values(candidate.val).values())))
        is_recommended = candidate.id == run.recommended.id != run.baseline.id
        style = "bold green" if is_recommended else None
        table.add_row(name, str(len(candidate.edits)), tokens, *tested, on_val, style=style)
    return table


def _notes(result: _Result) -> list[str]:
    """Notes on answers without a label: complete for the original and the chosen prompt, one line for others."""
    run, names = result.run, result.names
    notes, told = [], {}
    for candidate in result.compared:
        name, scores = names[candidate.id], (candidate.test or candidate.val).to_dict()
        notes += [f"{name} on {'test' if candidate.test else 'val'}: {line}" for line in na_lines(scores)]
        told["The original prompt" if candidate.id == run.baseline.id else f"Prompt {name}"] = scores
    compared = {candidate.id for candidate in result.compared}
    for candidate in run.front:
        of_front = candidate.test or candidate.val
        note = na_note(of_front.na_rate, of_front.na_kinds)
        if note and candidate.id not in compared:
            notes.append(f"{names[candidate.id]}: {note}")
    reason = run.recommendation.verdict.reason if run.recommendation else ""
    notes += filter(None, [lone_classes_line(run.baseline.test or run.baseline.val)])
    return [*notes, *shares_lines(told, reason)]


def on_test(scores: Scores) -> list[str]:
    """The measures in percent, each with its interval."""
    return list(map(_shorter, in_percent(scores).values()))


def _shorter(percents: str) -> str:
    """The percentages without decimals, so that a row fits into 80 columns."""
    return percents.replace("100.0", "100")
