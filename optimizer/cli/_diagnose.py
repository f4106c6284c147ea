"""Measurements of prompts: `psopt diagnose` of one, `psopt compare` of several."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from psopt.cli._measuring import Measuring, calibration_note, read_measuring, reading_bar
from psopt.cli._tables import in_percent, new_table, print_sentences, print_table, result_console
from psopt.cli._typer import UsageError
from psopt.cli._verb import DRY_RUN, MODEL_OF_PROMPT, OWN_PROMPT, STRATEGY, OutputOptions, verb
from psopt.cli._writing import as_json_text, check_writable, print_json, tell, with_version, write_file
from psopt.settings import MODEL, OUTPUT, PROMPT, DataOptions, MeasureOptions, PromptOptions

if TYPE_CHECKING:
    from psopt.api import Comparison
    from psopt.diagnosis import PromptReport
    from rich.console import Console

_ON_TRAIN = MeasureOptions(split="train")  # nothing learnt from a diagnosis may come from val or test
_LEAST_P = 0.001  # no digits below that are worth printing


@verb("psopt diagnose --dataset tickets.csv --prompt prompt.txt --model openai/gpt-5.4-mini")
def diagnose(
    *,
    data: DataOptions,
    prompt: str | None = OWN_PROMPT,
    reading: PromptOptions,
    model: str | None = MODEL_OF_PROMPT,
    strategy: str = STRATEGY,
    measuring: MeasureOptions = _ON_TRAIN,
    html: Path | None = OUTPUT.first("Also write a page with the paper's figures; opens offline.", "FILE"),
    suspects: bool = OUTPUT.first(
        "List the samples that are always given the same answer, never the label.", default=False
    ),
    suspects_file: Path | None = OUTPUT.first("Write them, such as to suspect_labels.json.", "FILE"),
    to_label: int | None = OUTPUT.first(
        "List the samples to label first: those whose answers differ most, without near copies. No label is looked at.",
        "N",
        least=1,
    ),
    dry_run: bool = DRY_RUN,
    output: OutputOptions,
) -> int:
    """Measure a prompt's sensitivity and consistency, and find the unstable samples.

    Labels are optional: without them only the sensitivity is measured. A run's prompt is measured with the run's model,
    server and options, unless you name others.
    """
    import psopt.api as api
    from psopt.cli._plan_lines import show_estimate
    from psopt.diagnosis import samples_to_label

    if to_label is not None and measuring.rephrasings == 1:
        raise UsageError("--to-label ranks by how far wordings change answers: give --rephrasings 2 or more")
    check_writable("--html", html)
    check_writable("--suspects-file", suspects_file)
    subject = read_measuring(data, [prompt], reading, model, strategy, measuring, require_labels=False)
    task, choice = subject.task, subject.choice
    if dry_run:
        estimate = api.estimate_measuring(task, subject.prompts, [choice.model], subject.options)
        return show_estimate(estimate, choice.model, choice.lm, as_json=output.as_json)
    with reading_bar() as on_progress:
        report = api.diagnose(
            task, subject.prompt, model=choice.model, on_progress=on_progress, options=subject.options
        )
    if html is not None:
        from psopt.report import diagnosis_page

        page = diagnosis_page(report, task.name, choice.model, measuring.split, task.info.note, subject.options.seed)
        write_file("--html", html, page)
    if suspects_file is not None:
        content = with_version({"prompt": subject.prompt.id, measuring.split: report.suspects.to_dict()})
        write_file("--suspects-file", suspects_file, as_json_text(content) + "\n")
    ranked = samples_to_label(report.predictions, to_label) if to_label else []
    if output.as_json:
        to_label_first = {"to_label": list(map(asdict, ranked))} if to_label else {}
        print_json({**choice.to_dict(), **report.to_dict(), **to_label_first})
    elif not output.quiet:
        from psopt.cli._diagnosis_tables import show_diagnosis

        console, next_step = result_console(), _next_step(report, subject)
        show_diagnosis(console, report, ranked, lists_suspects=suspects)
        print_sentences(console, [f"Page: {html}. {next_step}" if html else next_step])
    return 0


def _next_step(report: PromptReport, subject: Measuring) -> str:
    """What to do next: calibration first, if the model can be calibrated and answers nearly one label."""
    from psopt.models import ModelProvider, calibrates

    if report.scores is None:
        return "Next: add labels, which psopt optimize needs; --to-label N lists the samples to label first."
    choice = subject.choice
    if report.scores.is_hollow and choice.lm.calibration == "auto" and report.prompt.calibration is None:
        model = ModelProvider(subject.options.cache_dir, choice.lm).answering(choice.model, subject.task)
        if calibrates(model) and model.can_measure:
            return (
                "Next: --calibration batch takes out the model's preference for some labels; measure again with it. "
                "psopt optimize tries it first, then edits."
            )
    return "Next: psopt optimize, with these options, looks for edits."


@verb("psopt compare --dataset tickets.csv --prompt old.txt --prompt runs/tickets/prompts/1a2b3c.json")
def compare(
    *,
    data: DataOptions,
    prompts: list[str] | None = PROMPT.first(
        "Your prompt, or a run's prompts/ID.json; may be repeated",
        "P",
        flags="--prompt",
        repeats=True,
        shown_default="the strategy's",
    ),
    reading: PromptOptions,
    other_models: list[str] | None = MODEL.first(
        "Another model; may be given several times.", "M", flags="--model2", repeats=True
    ),
    model: str | None = MODEL_OF_PROMPT,
    strategy: str = STRATEGY,
    measuring: MeasureOptions,
    html: Path | None = OUTPUT.first("Also write a page: the table, the tests and a figure.", "FILE"),
    dry_run: bool = DRY_RUN,
    output: OutputOptions,
) -> int:
    """Compare prompts, or models, on the same samples and rephrasings: who is better in what, and is it chance?

    Everything is tested against the first prompt under the first model, paired, at the 5 % level. The model is that of
    the prompts' run, unless you name another.
    """
    import psopt.api as api
    from psopt.cli._plan_lines import show_estimate
    from psopt.evaluation import note_size
    from psopt.models.chat import server_of
    from psopt.report import comparison_page

    check_writable("--html", html)
    subject = read_measuring(data, prompts or [], reading, model, strategy, measuring, require_labels=True, every=True)
    task, lm = subject.task, subject.choice.lm
    models = [subject.choice.model, *(other_models or [])]
    if len(set(models)) < len(models):
        raise UsageError(f"--model2 names a model twice ({', '.join(models)}): name another one, or leave it out")
    for name in other_models or []:
        notes = dict.fromkeys(calibration_note(prompt, name, lm) for prompt in subject.prompts.values())
        tell(*(f"{name}: {note}" for note in notes if note))
    if dry_run:
        estimate = api.estimate_measuring(task, subject.prompts, models, subject.options)
        return show_estimate(estimate, " and ".join(models), lm, as_json=output.as_json)
    with reading_bar() as on_progress:
        contenders = api.compare(task, subject.prompts, models, on_progress=on_progress, options=subject.options)
    if html is not None:
        measured = {name: each.scores.to_dict() for name, each in zip(_names(contenders), contenders, strict=True)}
        of_data = f"Data: {task.name}, {measuring.split}, seed {subject.options.seed}. {task.info.note}".strip()
        size = note_size(contenders[0].scores, limit=False)
        lines = [of_data, size, *_warnings(contenders), *_differences(contenders)]
        page = comparison_page(contenders.in_percent(), lines, measured, contenders[0].scores.quality_name)
        write_file("--html", html, page)
    if output.as_json:
        servers = {name: server_of(name, lm) for name in models}
        print_json([{**contender.to_dict(), "server": servers.get(contender.model)} for contender in contenders])
    elif not output.quiet:
        _show_comparison(result_console(), contenders)
        if html is not None:
            typer.echo(f"Page: {html}")
    return 0


def _show_comparison(console: Console, contenders: Comparison) -> None:
    from psopt.evaluation import beside_quality_line, note_size

    title, measures = "In percent, with 95 % intervals", list(in_percent(contenders[0].scores))
    table = new_table(title, texts=("prompt", "model"), numbers=measures, is_narrow=False)
    for contender in contenders:
        table.add_row(contender.prompt, contender.model, *in_percent(contender.scores).values())
    print_table(console, table)
    print_sentences(console, [note_size(contenders[0].scores, limit=False)])
    for name, contender in zip(_names(contenders), contenders, strict=True):
        if beside := beside_quality_line(contender.scores.to_dict()):
            print_sentences(console, [f"{name}: {beside}."])
    print_sentences(console, _warnings(contenders), style="yellow")
    print_sentences(console, _differences(contenders))


def _warnings(contenders: Comparison) -> list[str]:
    """Which scores rest on answers without a label, or on wordings that are too similar."""
    from psopt.evaluation import na_lines
    from psopt.rephrasings import tame_note

    lines = []
    for name, contender in zip(_names(contenders), contenders, strict=True):
        lines += [f"{name}: {line}" for line in na_lines(contender.scores.to_dict())]
    notes = {contender.prompt: tame_note(contender.diversity) for contender in contenders}
    return lines + [f"S of {prompt}: {note}." for prompt, note in notes.items() if note]


def _differences(contenders: Comparison) -> list[str]:
    """In which measures each is better or worse than the first."""
    from psopt.evaluation import measure_names

    first, *others = _names(contenders)
    lines = []
    for name, contender in zip(others, contenders[1:], strict=True):
        measures = measure_names(contender.scores.quality_name)
        parts = []
        for measure, difference in contender.against_first.items():
            p = f"p {difference.p_value:.3f}" if difference.p_value >= _LEAST_P else f"p < {_LEAST_P}"
            points = f"{100 * difference.difference:+.1f}"
            parts.append(f"{measures[measure]} {contender.verdict(measure)} ({points}, {p})")
        lines.append(f"{name} against {first}: {'; '.join(parts)}")
    return lines


def _names(contenders: Comparison) -> list[str]:
    """What distinguishes them: the prompt, the model, or both."""
    if len({contender.model for contender in contenders}) == 1:
        return [contender.prompt for contender in contenders]
    if len({contender.prompt for contender in contenders}) == 1:
        return [contender.model for contender in contenders]
    return [f"{contender.prompt} under {contender.model}" for contender in contenders]
