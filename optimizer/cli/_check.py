"""`psopt check`."""

from __future__ import annotations

import os
import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import typer
from psopt.cli._measuring import choose_model, read_measuring, reading_bar
from psopt.cli._typer import UsageError, is_given
from psopt.cli._verb import DRY_RUN, MODEL_OF_PROMPT, OWN_PROMPT, STRATEGY, OutputOptions, verb
from psopt.cli._writing import check_writable, note_lines, print_json, tell, write_file
from psopt.settings import OUTPUT, BoundOptions, DataOptions, MeasureOptions, Panel, PromptOptions
from psopt.text import escaped_markdown, one_line, percent, shortened_list

if TYPE_CHECKING:
    from psopt.api import CheckResult, Drift, Threshold


_DRIFT = Panel("Drift")
_OF_BOUNDS = ("dataset", "prompt", "strategy", "split", "samples", *(bound.name for bound in fields(BoundOptions)))
_NO_DATA = DataOptions("")  # --fresh takes none
_NAME = "psopt check"
_BOUNDS, _SAMPLES = "psopt.check", "psopt.check.samples"
# https://www.w3.org/TR/xml/#charsets
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FAULTS = {_BOUNDS: "missed", _SAMPLES: "not robust"}
_VARIABLE = "GITHUB_STEP_SUMMARY"  # https://docs.github.com/actions/reference/workflow-commands#adding-a-job-summary
_MOST_NAMED = 10  # samples listed per failed bound
_HEAD = ("| | What, in percent | Value | Bound | 95 % interval | Samples | Askings |", "|---|---|---|---|---|---|---|")


@verb("psopt check --dataset tickets.csv --prompt p.json --max-sensitivity 0.1 --min-f1 0.8")
def check(
    *,
    data: DataOptions = _NO_DATA,
    prompt: str | None = OWN_PROMPT,
    reading: PromptOptions,
    bounds: BoundOptions,
    baseline: str | None = _DRIFT.first("With --fresh: the run whose prompt and answers they are held against.", "RUN"),
    fresh: Path | None = _DRIFT.first(
        "Texts without labels, as psopt classify takes them: are S and the labels' shares what they were? In place of "
        "bounds.",
        "TEXTS",
    ),
    model: str | None = MODEL_OF_PROMPT,
    strategy: str = STRATEGY,
    measuring: MeasureOptions,
    dry_run: bool = DRY_RUN,
    junit: Path | None = OUTPUT.first("Write the result as JUnit XML: each bound a test case.", "FILE"),
    output: OutputOptions,
) -> int:
    """Check a prompt against bounds, for continuous integration: exit code 0 if all are kept, 1 if not.

    A run's prompt is checked with the run's model, server and options, unless you name others.

    With --baseline RUN --fresh TEXTS it checks whether new texts still match those that the run's prompt was measured
    on: tests of S and of the labels' shares, which need no labels, at 5 % together.
    """
    import psopt.api as api
    from psopt.cli._plan_lines import show_estimate

    check_writable("--junit", junit)
    if fresh is not None or baseline is not None:
        if dry_run:
            raise UsageError("--dry-run plans checks of bounds: with --fresh it is texts x wordings; leave it out")
        return _tell(*_drift(fresh, baseline, data.inputs, model, measuring), junit, output)
    if not data.dataset:
        raise UsageError("Missing option '--dataset'")
    subject = read_measuring(data, [prompt], reading, model, strategy, measuring, require_labels=True)
    task, choice, options = subject.task, subject.choice, subject.options
    if dry_run:
        pinned = api.pinned_samples(task, bounds.pinned)
        estimate = api.estimate_measuring(task, subject.prompts, [choice.model], options, pinned)
        return show_estimate(estimate, choice.model, choice.lm, as_json=output.as_json)
    with reading_bar() as on_progress:
        result = api.check(
            task, subject.prompt, model=choice.model, on_progress=on_progress, bounds=bounds, options=options
        )
    facts = {"data": data.dataset, "model": choice.model, "prompt": prompt or strategy}
    more = {**choice.to_dict(), **result.scores.to_dict(), "rephrasings_diversity": result.diversity}
    if result.reruns is not None:
        more["reruns"] = result.reruns.to_dict()
    return _tell(result, facts, more, _remarks(result), junit, output)


def _remarks(result: CheckResult) -> list[str]:
    """What to know about the figures besides the bounds."""
    from psopt.api import RESTS_ON_NA
    from psopt.evaluation import beside_quality_line, lone_classes_line, na_lines, note_size, shares_line
    from psopt.rephrasings import tame_note

    scores = result.scores.to_dict()
    notes = [note_size(result.scores), *na_lines(scores)]
    if any(threshold.option == RESTS_ON_NA for threshold in result.thresholds):
        del notes[1]  # the missed bounds already say that S is unreliable
    if too_similar := tame_note(result.diversity):
        notes.insert(0, f"S: {too_similar}")
    if result.reruns is not None:
        notes.append(result.reruns.line(result.scores.sensitivity))
    return [*notes, beside_quality_line(scores), shares_line(scores), lone_classes_line(result.scores)]


def _drift(
    fresh: Path | None, baseline: str | None, inputs: tuple[str, ...], model: str | None, measuring: MeasureOptions
) -> tuple[Drift, dict[str, str], dict[str, Any], list[str]]:
    """How far answers to fresh texts are from a run's; what was checked, what --json has besides, and a note."""
    from psopt.api import drift, run_of_baseline
    from psopt.cli._classify import read_texts
    from psopt.runs import read_source

    if fresh is None or baseline is None:
        raise UsageError("--baseline RUN and --fresh TEXTS belong together: give both")
    if any(map(is_given, _OF_BOUNDS)):
        raise UsageError("--fresh asks the baseline's prompt about texts without labels: leave bounds and data out")
    source = read_source(baseline)
    run_of_baseline(source)  # raises
    texts, columns = read_texts(fresh, source, inputs)
    choice = choose_model(model, measuring.lm, [source])
    tell(choice.line)
    with reading_bar() as on_progress:
        result = drift(
            source,
            texts,
            columns,
            model=choice.model,
            lm=choice.lm,
            n_wordings=measuring.rephrasings if is_given("rephrasings") else None,
            cache_dir=measuring.cache_dir,
            on_progress=on_progress,
        )
    facts = {"data": str(fresh), "model": choice.model, "baseline": baseline}
    against = f"{result.n_fresh} fresh texts against {result.n_known} of {result.split}"
    note = f"{against}, each under the same {result.n_rephrasings} wordings; tested at 5 % together."
    return result, facts, {**choice.to_dict(), **asdict(result)}, [note]


def _tell(
    result: CheckResult | Drift,
    facts: dict[str, str],
    more: dict[str, Any],
    notes: list[str],
    junit: Path | None,
    output: OutputOptions,
) -> int:
    """Write a result wherever it is requested: as JUnit XML, on GitHub's page, and on the screen or as JSON."""
    if junit is not None:
        write_file("--junit", junit, junit_xml(result, facts))
    _add_step_summary(result, facts)
    if output.as_json:
        checks = [{**asdict(threshold), "met": threshold.met} for threshold in result.thresholds]
        print_json({"met": result.met, "checks": checks, **more})
    else:
        for threshold in result.thresholds:
            if not (output.quiet and threshold.met):
                typer.echo(str(threshold), err=not threshold.met)
    tell(*note_lines(*notes))
    return int(not result.met)


def junit_xml(result: CheckResult | Drift, facts: dict[str, str]) -> str:
    """Write a check's result as JUnit XML, with `facts`: a test case for each bound, and each failing sample."""
    root = ET.Element("testsuites", name=_NAME)
    suite = ET.SubElement(root, "testsuite", name=_NAME)
    properties = ET.SubElement(suite, "properties")
    for name, value in facts.items():
        ET.SubElement(properties, "property", name=name, value=_allowed(value))
    for threshold in result.thresholds:
        _add_case(suite, _BOUNDS, threshold.name, str(threshold), is_met=threshold.met)
        for sample in threshold.failing:
            askings = f"{threshold.n_rephrasings} {threshold.varied}"
            line = f"{sample.label} is answered under {100 * sample.right:.0f} % of {askings}"
            _add_case(suite, _SAMPLES, sample.id, line, is_met=threshold.met)
    paths = {"tests": "testcase", "failures": "testcase/failure", "skipped": "testcase/skipped"}
    counts = {name: str(len(suite.findall(path))) for name, path in paths.items()}
    for element in (root, suite):
        element.attrib.update({**counts, "errors": "0"})
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _allowed(text: str) -> str:
    r"""Return a text in which characters that XML 1.0 cannot hold, even escaped, are written as in Python.

    >>> _allowed("red\x1b[31m \ud800 line\n")
    'red\\x1b[31m \\ud800 line\n'
    """
    return _NOT_IN_XML.sub(lambda sign: ascii(sign[0])[1:-1], text)


def _add_case(suite: ET.Element, kind: str, name: str, line: str, *, is_met: bool) -> None:
    case = ET.SubElement(suite, "testcase", classname=kind, name=_allowed(name), time="0")
    if not is_met:
        ET.SubElement(case, "failure", message=_allowed(line), type=_FAULTS[kind]).text = _allowed(line)
    elif kind == _BOUNDS:
        ET.SubElement(case, "system-out").text = _allowed(line)
    else:
        ET.SubElement(case, "skipped", message=_allowed(f"{line}; the bound allows it"))


def _add_step_summary(result: CheckResult | Drift, facts: dict[str, str]) -> None:
    """Append a summary to the file that GitHub names; elsewhere do nothing. Errors there do not fail the check."""
    if not (path := os.environ.get(_VARIABLE)):
        return
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(summary(result, facts))
    except OSError as error:
        tell(f"Warning: the summary ${_VARIABLE} can't be written: {error.strerror}")


def summary(result: CheckResult | Drift, facts: dict[str, str]) -> str:
    """Write a result as Markdown: `facts`, a table of the bounds, and the samples that fail under ``--each``."""
    n_missed = sum(not threshold.met for threshold in result.thresholds)
    n_bounds = len(result.thresholds)
    title = f"{n_missed} of {n_bounds} bounds missed" if n_missed else f"all bounds kept ({n_bounds})"
    paragraphs = [
        f"### psopt check: {title}",
        ", ".join(f"{name} {_literal(value)}" for name, value in facts.items()),
        "\n".join([*_HEAD, *map(_row, result.thresholds)]),
    ]
    for threshold in result.thresholds:
        if threshold.failing:
            names = [f"{_literal(sample.id)} ({sample.right:.0%})" for sample in threshold.failing]
            share = f"Not right so often (under this share of {threshold.varied})"
            paragraphs.append(f"{share}: {shortened_list(names, _MOST_NAMED)}")
    return "\n\n".join(paragraphs) + "\n\n"


def _literal(text: str) -> str:
    return escaped_markdown(one_line(text))


def _row(threshold: Threshold) -> str:
    sign = "≤" if threshold.option.startswith("max") or threshold.estimate is None else "≥"
    cells = [
        "kept" if threshold.met else "**missed**",
        _literal(threshold.note or threshold.title),
        threshold.percent(threshold.value if threshold.estimate is None else threshold.estimate),
        f"{sign} {100 * threshold.bound:g}",
        " to ".join(map(percent, threshold.interval or ())),
        *("" if number is None else str(number) for number in (threshold.n_samples, threshold.n_rephrasings)),
    ]
    return f"| {' | '.join(cells)} |"
