"""What was measured as a page: `psopt diagnose --html`, `psopt compare --html`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.answers import answers_line
from psopt.evaluation import beside_quality_line, na_lines, shares_line
from psopt.rephrasings import tame_note
from psopt.report._class_figures import class_figures
from psopt.report._page import PromptPanel, render_page
from psopt.report._prompt_figures import compared_figure
from psopt.report._run_report import most_severe
from psopt.report._sample_figures import joint_view, sample_sensitivity
from psopt.report._wording_figures import damage, enough, families, flips
from psopt.text import latex_table, markdown_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.diagnosis import PromptReport
    from psopt.report._theme import Figure

_SAMPLES = 20  # the weakest ones, shown on a page; the JSON has all


def diagnosis_page(report: PromptReport, name: str, model: str, split: str, note: str = "", seed: int = 42) -> str:
    """Render a diagnosis of the named task as HTML that opens offline; `note` is a line for the reader."""
    content = report.to_dict()
    weak = [{**sample, "answers": answers_line(sample["answers"])} for sample in content["weak"]["sensitivity"]]
    return render_page(
        "diagnosis.html",
        _figures(report, seed),
        report=content,
        name=name,
        model=model,
        split=split,
        note=note,
        beside=beside_quality_line(report.measured()),
        reruns=report.reruns.line(report.sensitivity) if report.reruns else "",
        flips=report.flips_line,
        similar=tame_note(report.predictions.diversity),
        na_lines=na_lines(content),
        lopsided=shares_line(content),
        suspects=report.suspects.line,
        quality=report.predictions.answers.quality_name,
        groups=most_severe(content["groups"]),
        weak=weak[:_SAMPLES],
        panel=PromptPanel.of(report.prompt),
    )


def _figures(report: PromptReport, seed: int) -> list[Figure]:
    prompts = {"prompt": report.predictions}
    figures: list[Figure | None] = [sample_sensitivity(prompts)]
    if report.scores is not None:
        figures += [
            joint_view(prompts),
            *class_figures(prompts),
            damage(prompts, report.predictions.column_names),
            enough(prompts, seed),
            families({"prompt": report.scores.to_dict()}),
        ]
    figures.append(flips(prompts))
    return list(filter(None, figures))


def comparison_page(
    rows: Sequence[Mapping[str, str]], lines: Sequence[str], measured: Mapping[str, Mapping[str, Any]], quality: str
) -> str:
    """Render what `psopt compare` shows: the table in percent, the lines below it, one figure.

    `measured` holds scores by the name of what was measured, and `quality` is what replaces F1.
    """
    figure = compared_figure(measured, quality)
    copied = {"markdown": markdown_table(rows), "latex": latex_table(rows)}
    return render_page("comparison.html", [figure], rows=rows, lines=lines, front=figure, **copied)
