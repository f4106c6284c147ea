"""`psopt diagnose`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from psopt.cli._dry_run import show_estimate
from psopt.cli._options import DryRun, OutputOptions, Prompt, PromptModel, Strategy
from psopt.cli._typer import UsageError
from psopt.cli._verb import flag, verb
from psopt.cli._writing import as_json_text, print_json, write_file
from psopt.settings import DataOptions, MeasureOptions, PromptOptions

if TYPE_CHECKING:
    from psopt.diagnosis import PromptReport
    from rich.console import Console


_ON_TRAIN = MeasureOptions(split="train")  # what is learnt from a diagnosis must not come from val or test
Html = Annotated[
    Path | None,
    flag(
        "Output",
        "--html",
        "Also write a page with the paper's figures; opens offline.",
        "FILE",
        dir_okay=False,
    ),
]
ListSuspects = Annotated[
    bool,
    flag("Output", "--suspects", "List the samples that are always given the same answer, never the label."),
]
SuspectsFile = Annotated[
    Path | None,
    flag("Output", "--suspects-file", "Write them, such as to suspect_labels.json.", "FILE", dir_okay=False),
]
ToLabelFirst = Annotated[
    int | None,
    flag(
        "Output",
        "--to-label",
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

    Labels are optional: without them only the sensitivity is known. A prompt of a run is measured with the run's model,
    server and options, unless others are named.
    """
    from psopt.api import diagnose as run_diagnosis
    from psopt.api import estimate_measuring
    from psopt.cli._diagnosis_tables import to_label_table
    from psopt.cli._model_choice import choose_model
    from psopt.cli._prompts import prompt_for_task, read_prompts
    from psopt.cli._remaining import reading_bar
    from psopt.cli._tables import is_wrapped, print_sentences, print_table, result_console
    from psopt.cli._task import load_task
    from psopt.diagnosis import samples_to_label

    if to_label is not None and measuring.rephrasings == 1:
        raise UsageError("--to-label ranks by how far wordings change answers: give --rephrasings 2 or more")
    sources = read_prompts([prompt] if prompt else [], reading, data.dataset)
    task = load_task(data, measuring.seed, sources, require_labels=False, silent=output.silent)
    choice = choose_model(model, measuring.lm, sources)
    diagnosed = prompt_for_task(sources, task, strategy, measuring.seed, silent=output.silent)
    choice.say(silent=output.silent)
    options = replace(measuring, lm=choice.lm)
    if dry_run:
        estimate = estimate_measuring(task, {"": diagnosed}, [choice.model], options)
        return show_estimate(estimate, choice.model, choice.lm, as_json=output.as_json)
    with reading_bar(quiet=output.silent) as on_progress:
        report = run_diagnosis(
            task,
            diagnosed,
            model=choice.model,
            on_progress=on_progress,
            options=options,
        )
    if html is not None:
        from psopt.report import diagnosis_page

        page = diagnosis_page(report, task.name, choice.model, measuring.split, task.info.note, measuring.seed)
        write_file("--html", html, page)
    if suspects_file is not None:
        content = {"schema_version": 1, "prompt": diagnosed.id, measuring.split: report.suspects.to_dict()}
        write_file("--suspects-file", suspects_file, as_json_text(content) + "\n")
    first = samples_to_label(report.predictions, to_label) if to_label is not None else []
    if output.as_json:
        ranked = {} if to_label is None else {"to_label": [asdict(sample) for sample in first]}
        print_json({**choice.to_dict(), **report.to_dict(), **ranked})
    elif not output.quiet:
        console = result_console()
        _show(console, report)
        if suspects:
            _show_suspects(console, report)
        elif report.suspects.samples:
            print_sentences(console, [f"{report.suspects.line} (--suspects lists them)."])
        if first:
            print_table(console, to_label_table(first, is_whole=not is_wrapped(console)))
        page_line = f"Page: {html}. " if html else ""
        print_sentences(console, [f"{page_line}Next: psopt optimize, with these options, looks for edits."])
    return 0


def _show(console: Console, report: PromptReport) -> None:
    from psopt.cli._diagnosis_tables import (
        clusters_table,
        families_table,
        scores_table,
        shares_table,
        slices_table,
        weakest_table,
    )
    from psopt.cli._tables import is_wrapped, print_sentences, print_table
    from psopt.evaluation import (
        beside_quality_line,
        family_scores,
        intervals_note,
        na_lines,
        sensitivity_limit,
        shares_line,
    )
    from psopt.rephrasings import tame_note

    n_samples, n_rephrasings = report.predictions.array.shape
    varied = report.predictions.varied
    console.print(f"{n_samples} samples × {n_rephrasings} {varied.replace('wordings', 'rephrasings')}")
    print_table(console, scores_table(report))
    limit = sensitivity_limit(report.predictions)
    if limit is not None:
        known = f"{100 * report.sensitivity:.1f} under these {n_rephrasings}"
        about = f"{known}, and about {100 * limit:.1f} extrapolated to many more."
        print_sentences(console, [f"S grows with the number of {varied}: {about}"])
    if report.reruns is not None:
        print_sentences(console, [report.reruns.line(report.sensitivity)])
    if line := report.flips_line:
        print_sentences(console, [f"{line}."])
    if report.scores is not None:
        console.print(f"{intervals_note(report.scores)}.")
    if line := beside_quality_line(report.measured()):
        console.print(f"{line}.", markup=False)
    if note := tame_note(report.predictions.diversity):
        print_sentences(console, [f"S: {note}."], style="yellow")
    warnings = [*na_lines(report.measured()), shares_line(report.measured())]
    print_sentences(console, filter(None, warnings), style="yellow")
    if (shares := report.shares) is not None:
        print_table(console, shares_table(shares))
    if families := family_scores(report.predictions):
        print_table(console, families_table(families, report.scores.quality_name if report.scores else "F1"))
    if report.diagnosis.slices:
        print_table(console, slices_table(report))
    else:
        console.print("No group of samples with a common wording stands out.")
    if any(cluster.answered != cluster.label for cluster in report.diagnosis.clusters):
        print_table(console, clusters_table(report))
    if report.scores is None:
        console.print("Without labels F1, consistency and the right class of a group can't be told.")
    if report.diagnosis.failure_cases["sensitivity"]:
        print_table(console, weakest_table(report, is_whole=not is_wrapped(console)))
    else:
        console.print(f"No sample's answer changes with the {varied}.".replace("the wordings.", "the wording."))
    half, most = report.diagnosis.carried["50%"], report.diagnosis.carried["90%"]
    if half:
        noun = "sample carries" if half == 1 else "samples carry"
        console.print(f"{half} {noun} half of the whole S, {most} carry 90 %: look at these first.")


def _show_suspects(console: Console, report: PromptReport) -> None:
    """Print all of them, with how much of their class looks so."""
    from psopt.cli._diagnosis_tables import suspects_table
    from psopt.cli._tables import is_wrapped, print_sentences, print_table

    suspects = report.suspects
    if report.scores is None:
        console.print("Without labels none can be suspect.")
    elif not suspects.samples:
        console.print("No sample is always given the same answer, never the label.")
    else:
        print_table(console, suspects_table(suspects.samples, is_whole=not is_wrapped(console)))
        print_sentences(console, [f"{suspects.line}.", *_base_rates(report)])
        console.print("Either the label or the model is wrong there: look before you change a label.")


def _base_rates(report: PromptReport) -> list[str]:
    """How many of each label's samples look so, and how many of its answers are right."""
    if report.predictions.answers.open is not None or report.scores is None:
        return []
    found = Counter(suspect.label for suspect in report.suspects.samples)
    right = report.predictions.share_right
    lines = []
    for label, n in found.most_common():
        members = [row for row, sample in enumerate(report.predictions.samples) if sample.label == label]
        of_class = f"{n} of {len(members)} samples labelled {label}"
        lines.append(f"  {of_class}; {100 * right[members].mean():.0f} % of the answers to them are right")
    return lines
