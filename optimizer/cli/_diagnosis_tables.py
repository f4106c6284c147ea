"""A diagnosis on a terminal: its tables, and the text between them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from psopt.answers import answers_line
from psopt.cli._tables import add_numbers, add_texts, is_wrapped, new_table, print_sentences, print_table, with_interval
from psopt.evaluation import (
    OBJECTIVES,
    AnswerShares,
    FamilyScores,
    beside_quality_line,
    family_scores,
    intervals_note,
    lone_classes_line,
    na_lines,
    sensitivity_limit,
    shares_line,
)
from psopt.rephrasings import tame_note
from psopt.report import MOST_CLASSES, most_severe
from psopt.settings import UNCHANGED
from psopt.text import counted, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.diagnosis import PromptReport, ToLabel
    from rich.console import Console
    from rich.table import Table

# Chosen by eye: two tables and their titles on one screen, a text in two or three lines of 80 columns, a UUID in three.
_ROWS = 12
_LONGEST = 120
_NARROWEST_ID = 6
_WIDEST_ID = 12
_WIDEST_ANSWER = 24


def show_diagnosis(console: Console, report: PromptReport, ranked: Sequence[ToLabel], *, lists_suspects: bool) -> None:
    """Print the scores, what is unstable, the samples whose labels may be wrong, and those to label first."""
    n_samples, n_rephrasings = report.predictions.array.shape
    varied = report.predictions.varied
    rephrasings = varied.replace("wordings", "rephrasings") if n_rephrasings > 1 else "rephrasing"
    console.print(f"{counted(n_samples, 'sample')} × {n_rephrasings} {rephrasings}")
    print_table(console, scores_table(report))
    _print_notes(console, report)
    if (shares := report.shares) is not None:
        print_table(console, shares_table(shares))
    if families := family_scores(report.predictions):
        print_table(console, families_table(families, _quality_name(report)))
    if report.diagnosis.slices:
        print_table(console, slices_table(report))
    else:
        console.print("No group of samples with a common wording stands out.")
    if report.scores is None:
        console.print("Without labels F1, consistency and the right class of a group can't be told.")
    if report.diagnosis.failure_cases["sensitivity"]:
        _show_weakest(console, report)
    elif n_rephrasings > 1:
        console.print(f"No sample's answer changes with the {varied}.".replace("the wordings.", "the wording."))
    if lists_suspects:
        _show_suspects(console, report)
    elif report.suspects.samples:
        print_sentences(console, [f"{report.suspects.line} (--suspects lists them)."])
    if ranked:
        _show_to_label(console, ranked)


def _print_notes(console: Console, report: PromptReport) -> None:
    """What the scores rest on: sizes, reruns, intervals, answers without a label."""
    predictions, measured = report.predictions, report.measured()
    limit = sensitivity_limit(predictions)
    lines = []
    if limit is not None:
        under_these = f"{100 * report.sensitivity:.1f} under these {predictions.n_rephrasings}"
        about = f"{under_these}, and about {100 * limit:.1f} extrapolated to many more."
        lines.append(f"S grows with the number of {predictions.varied}: {about}")
    if report.reruns is not None:
        lines.append(report.reruns.line(report.sensitivity))
    intervals = intervals_note(report.scores) if report.scores else ""
    lines += [f"{line}." for line in (report.flips_line, intervals, beside_quality_line(measured)) if line]
    print_sentences(console, lines)
    warnings = [*na_lines(measured), shares_line(measured)]
    if report.scores:
        warnings.append(lone_classes_line(report.scores))
    if note := tame_note(predictions.diversity):
        warnings.insert(0, f"S: {note}.")
    shown = {example.text for example in report.prompt.examples}
    if n_shown := sum(sample.text in shown for sample in predictions.samples):
        warnings.append(f"The prompt itself shows {n_shown} of these samples with the answer.")
    print_sentences(console, filter(None, warnings), style="yellow")


def _quality_name(report: PromptReport) -> str:
    return report.scores.quality_name if report.scores else "F1"


def _show_suspects(console: Console, report: PromptReport) -> None:
    suspects = report.suspects
    if report.scores is None:
        console.print("Without labels none can be suspect.")
    elif not suspects.samples:
        console.print("No sample is always given the same answer, never the label.")
    else:
        says = {True: "answer", False: "label", None: "–"}  # the word classifier's judgement
        rows = [[each.id, each.label, each.answered, says[each.by_words], each.text] for each in suspects.samples]
        _show_samples(console, "Suspect labels", [], ["label", "answered", "by its words", "text"], rows)
        print_sentences(console, [f"{suspects.line}.", *_base_rates(report)])
        console.print("Either the label or the model is wrong there: look before you change a label.")


def _base_rates(report: PromptReport) -> list[str]:
    """How many of each label's samples are suspect, and how many of its answers are right."""
    if report.predictions.answers.open is not None or report.scores is None:
        return []
    n_suspect = Counter(suspect.label for suspect in report.suspects.samples)
    right = report.predictions.share_right
    lines = []
    for label, n in n_suspect.most_common():
        members = [row for row, sample in enumerate(report.predictions.samples) if sample.label == label]
        of_class = f"{n} of {len(members)} samples labelled {label}"
        lines.append(f"  {of_class}; {100 * right[members].mean():.0f} % of the answers to them are right")
    return lines


def scores_table(report: PromptReport) -> Table:
    """Scores, overall and per class."""
    scores, quality = report.scores, _quality_name(report)
    of_class_alone = ["F1"] if quality != "F1" and scores and scores.per_class else []  # as for ordered labels
    table = new_table("Scores in percent", texts=[""], numbers=("samples", quality, *of_class_alone, "S", "C"))
    n_samples = str(len(report.predictions.samples))
    if scores is None:
        table.add_row("all", n_samples, "–", percent(report.sensitivity), "–")
        return table
    whole = [with_interval(scores, name) for name in OBJECTIVES]
    table.add_row("all", n_samples, whole[0], *("" for _ in of_class_alone), *whole[1:], style="bold")
    per_class = scores.per_class
    for label in _most_telling({label: -(of_class.f1 or 0.0) for label, of_class in per_class.items()}):
        of_class = per_class[label]
        numbers = (of_class.f1, of_class.sensitivity, of_class.consistency)
        cells = [*("" for _ in of_class_alone), *(percent(number) for number in numbers)]
        table.add_row(label, str(of_class.n), *cells)
    _say_left_out(table, len(per_class), "of higher F1")
    return table


def _most_telling(telling: Mapping[str, float]) -> list[str]:
    """The labels that fit on a screen, the most telling ones, in their order."""
    shown = sorted(telling, key=lambda label: -telling[label])[:MOST_CLASSES]
    return [label for label in telling if label in shown]


def _say_left_out(table: Table, n_labels: int, which: str) -> None:
    if n_labels > MOST_CLASSES:
        table.add_row(f"{n_labels - MOST_CLASSES} {which}: --json", style="dim")


def shares_table(shares: AnswerShares) -> Table:
    """How often each label is answered, and how often it is right; without labels only the former."""
    columns = {"of the answers": shares.answer_shares}
    if shares.class_shares:
        columns["of the samples"] = shares.class_shares
    table = new_table("What is answered, in percent", texts=["label"], numbers=list(columns))
    given = [label for label in shares.answer_shares if any(of.get(label) for of in columns.values())]
    right = shares.class_shares or {}
    apart = {label: abs(shares.answer_shares[label] - right.get(label, 0.0)) for label in given}
    for label in _most_telling(apart):
        table.add_row(label, *(percent(of.get(label, 0.0)) for of in columns.values()))
    _say_left_out(table, len(given), "less so" if not right else "closer to their shares")
    return table


def families_table(families: Mapping[str, FamilyScores], quality_name: str) -> Table:
    """Scores by family of rephrasings; for changed texts also how many answers change."""
    has_texts = any(of_family.flips is not None for of_family in families.values())
    columns = ["rephrasings", quality_name, "S"]
    if has_texts:
        columns = ["variants", quality_name, "S", "answers changed"]
    table = new_table("By what is varied, in percent", texts=["family"], numbers=columns)
    ranked = sorted(families.items(), key=lambda item: (item[0] != UNCHANGED, -(item[1].sensitivity or 0.0)))
    for family, of_family in ranked:
        cells = [family, str(of_family.n), percent(of_family.f1), percent(of_family.sensitivity)]
        if has_texts:
            cells.append(percent(of_family.flips))
        table.add_row(*cells)
    return table


def slices_table(report: PromptReport) -> Table:
    """The slices with the highest severity; one found by several views is one row."""
    table = new_table("What unstable or wrong samples share", texts=["topic"])
    groups = most_severe(report.diagnosis.to_dict()["groups"])[:_ROWS]
    if "contrast" in groups[0]:  # without classes
        add_numbers(table, "weak", "others", "p")
    else:
        add_texts(table, "class", "taken for")
        add_numbers(table, "samples")
    add_numbers(table, "of S")
    add_texts(table, "seen by")
    table.columns[0].min_width = 20
    table.columns[-1].min_width = 11  # consistency
    for row in groups:
        cells = [row["label"] or "–", row["predicted"] or "–", str(row["size"])]
        if contrast := row.get("contrast"):
            # How many weak samples show it, how many others, and the p-value
            weak = f"{contrast['weak_showing']} of {contrast['weak']}"
            cells = [weak, f"{contrast['others_showing']} of {contrast['others']}", f"{contrast['p_value']:.3f}"]
        table.add_row(row["topic"], *cells, f"{100 * row['share']:.0f} %", row["view"])
    return table


def _show_weakest(console: Console, report: PromptReport) -> None:
    is_open = report.predictions.answers.open is not None
    rows = []
    for sample in report.diagnosis.failure_cases["sensitivity"][:_ROWS]:
        right = "–" if sample.right is None else f"{sample.right}/{report.predictions.n_rephrasings}"
        row = [sample.id, percent(sample.sensitivity), right, sample.label or "–", sample.text]
        rows.append([*row, answers_line(sample.answers)] if is_open else row)
    texts = ["right answer", "text", "answered"] if is_open else ["class", "text"]
    _show_samples(console, "The most sensitive samples", ["S", "right"], texts, rows)


def _show_to_label(console: Console, samples: Sequence[ToLabel]) -> None:
    rows = [
        [each.id, percent(each.sensitivity), f"{100 * each.agreement:.0f} %", each.answer, each.text]
        for each in samples
    ]
    _show_samples(console, "Samples to label first", ["S", "agree"], ["answered", "text"], rows)


def _show_samples(
    console: Console, title: str, numbers: Sequence[str], texts: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Print a table of ids, numbers and texts; on a screen neither ids nor the first text, a label, may fill it."""
    table = new_table(title, texts=["id"], numbers=numbers)
    add_texts(table, *texts)
    place = 1 + len(numbers)
    for column, narrowest, widest in ((0, _NARROWEST_ID, _WIDEST_ID), (place, _WIDEST_ID, _WIDEST_ANSWER)):
        table.columns[column].min_width = min(narrowest, max((len(row[column]) for row in rows), default=1))
        table.columns[column].max_width = widest if is_wrapped(console) else None
    if is_wrapped(console):
        rows = [[text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in row] for row in rows]
    for row in rows:
        table.add_row(*(" ".join(cell.split()) for cell in row))
    print_table(console, table)
