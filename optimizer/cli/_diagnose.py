"""`psopt diagnose`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from psopt.cli._measuring import Measuring, read_measuring, reading_bar
from psopt.cli._options import DryRun, OutputOptions, Prompt, PromptModel, Strategy
from psopt.cli._tables import is_wrapped, print_sentences, print_table, result_console
from psopt.cli._typer import UsageError
from psopt.cli._verb import flag, verb
from psopt.cli._writing import as_json_text, print_json, with_version, write_file
from psopt.settings import DataOptions, MeasureOptions, PromptOptions

if TYPE_CHECKING:
    from psopt.diagnosis import PromptReport, ToLabel

_ON_TRAIN = MeasureOptions(split="train")  # nothing learnt from a diagnosis may come from val or test
Html = Annotated[
    Path | None, flag("Output", "Also write a page with the paper's figures; opens offline.", "FILE", dir_okay=False)
]
ListSuspects = Annotated[
    bool, flag("Output", "List the samples that are always given the same answer, never the label.")
]
SuspectsFile = Annotated[
    Path | None, flag("Output", "Write them, such as to suspect_labels.json.", "FILE", dir_okay=False)
]
ToLabelFirst = Annotated[
    int | None,
    flag(
        "Output",
        "List the samples to label first: those whose answers differ most, without near copies. No label is looked at.",
        "N",
        min=1,
    ),
]


@verb("psopt diagnose --dataset tickets.csv --prompt prompt.txt --model openai/gpt-5.4-mini")
def diagnose(
    *,
    data: DataOptions,
    prompt: Prompt = None,
    reading: PromptOptions,
    model: PromptModel = None,
    strategy: Strategy = "simple",
    measuring: MeasureOptions = _ON_TRAIN,
    html: Html = None,
    suspects: ListSuspects = False,
    suspects_file: SuspectsFile = None,
    to_label: ToLabelFirst = None,
    dry_run: DryRun = False,
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

        page = diagnosis_page(report, task.name, choice.model, measuring.split, task.info.note, measuring.seed)
        write_file("--html", html, page)
    if suspects_file is not None:
        content = with_version({"prompt": subject.prompt.id, measuring.split: report.suspects.to_dict()})
        write_file("--suspects-file", suspects_file, as_json_text(content) + "\n")
    ranked = samples_to_label(report.predictions, to_label) if to_label else []
    if output.as_json:
        to_label_first = {"to_label": list(map(asdict, ranked))} if to_label else {}
        print_json({**choice.to_dict(), **report.to_dict(), **to_label_first})
    elif not output.quiet:
        next_step = _next_step(report, subject)
        last_line = f"Page: {html}. {next_step}" if html else next_step
        _show(report, ranked, last_line, lists_suspects=suspects)
    return 0


def _show(report: PromptReport, ranked: list[ToLabel], last_line: str, *, lists_suspects: bool) -> None:
    """Print the diagnosis, the samples whose labels may be wrong, those to label first, and a last line."""
    from psopt.cli._diagnosis_tables import show_diagnosis, show_suspects, to_label_table

    console = result_console()
    show_diagnosis(console, report)
    if lists_suspects:
        show_suspects(console, report)
    elif report.suspects.samples:
        print_sentences(console, [f"{report.suspects.line} (--suspects lists them)."])
    if ranked:
        print_table(console, to_label_table(ranked, is_whole=not is_wrapped(console)))
    print_sentences(console, [last_line])


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
