"""Two to five runs as a page: `psopt report A B`."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from psopt.report._page import render_page
from psopt.report._prompt_figures import compared_figure, fronts_figure
from psopt.report._side_by_side import fixed_and_broken
from psopt.report._two_runs import changed_settings
from psopt.runs import price_line, text_to_read
from psopt.text import latex_table, markdown_table, percent, unified_diff

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psopt.report._theme import Figure
    from psopt.report._two_runs import RunShown, TwoRuns

_MOST_MOVED = 15  # samples, chosen by eye


def runs_page(pairs: Sequence[TwoRuns]) -> tuple[str, list[Figure]]:
    """Render pairs with the same first run as HTML that opens offline; return it with its figures."""
    shown = runs_of(pairs)
    names = names_of(shown)
    figure = fronts_figure({name: run.contents.run for name, run in zip(names, shown, strict=True)})
    measures = _measures(shown)
    rows = [_copied_row(name, run, measures) for name, run in zip(names, shown, strict=True)]
    page = render_page(
        "runs.html",
        [figure],
        names=names,
        runs=shown,
        pairs=[_pair(names[0], name, runs) for name, runs in zip(names[1:], pairs, strict=True)],
        measures=measure_rows(pairs),
        classes=_classes(shown),
        changed=changed_settings(shown),
        front=figure,
        markdown=markdown_table(rows),
        latex=latex_table(rows),
    )
    return page, [figure]


def comparison_page(
    rows: Sequence[Mapping[str, str]], lines: Sequence[str], measured: Mapping[str, Mapping[str, Any]], quality: str
) -> str:
    """Render what `psopt compare` shows: the table in percent, the lines below it, one figure.

    `measured` holds scores by the name of what was measured, and `quality` is what replaces F1.
    """
    figure = compared_figure(measured, quality)
    copied = {"markdown": markdown_table(rows), "latex": latex_table(rows)}
    return render_page("comparison.html", [figure], rows=rows, lines=lines, front=figure, **copied)


def runs_of(pairs: Sequence[TwoRuns]) -> list[RunShown]:
    """All runs of pairs that share the first run."""
    return [pairs[0].first, *(runs.second for runs in pairs)]


def names_of(shown: Sequence[RunShown]) -> list[str]:
    """The names of runs in tables: the last parts of their folders that tell them apart."""
    paths = [run.name.rstrip("/").split("/") for run in shown]
    for n_parts in range(1, max(map(len, paths)) + 1):
        names = ["/".join(parts[-n_parts:]) for parts in paths]
        if len(set(names)) == len(names):
            return names
    return [f"run {number}" for number in range(1, len(paths) + 1)]  # a run compared with itself


def measure_rows(pairs: Sequence[TwoRuns]) -> list[dict[str, Any]]:
    """Every measure on test with its interval, for each run's baseline and prompt, and the verdicts."""
    shown = [run.contents for run in runs_of(pairs)]
    scores = [{"baseline": of.run["baseline"]["test"], "chosen": of.chosen["test"]} for of in shown]
    rows = []
    for measure, name in _measures(runs_of(pairs)).items():
        differences = [runs.differences.get(measure) for runs in pairs]
        verdicts = [runs.verdict(measure) if measure in runs.differences else "" for runs in pairs]
        row = {"measure": measure, "name": name, "runs": scores, "differences": differences, "verdicts": verdicts}
        rows.append(row)
    return rows


def _measures(shown: Sequence[RunShown]) -> dict[str, str]:
    """The measures that any run has, by their keys; what is F1 in one and accuracy in another has both names."""
    names: dict[str, list[str]] = {}
    for run in shown:
        for measure, name in run.contents.measures.items():
            names.setdefault(measure, []).append(name)
    return {measure: " or ".join(dict.fromkeys(of)) for measure, of in names.items()}


def _copied_row(name: str, shown: RunShown, measures: Mapping[str, str]) -> dict[str, str]:
    """A run as a row of the table for copying."""
    scores = shown.contents.chosen["test"]
    row = {"run": name, "model": str(shown.contents.run["model"])}
    for measure, title in measures.items():
        row[title] = percent(scores[measure])
        if measure in scores["ci"]:
            low, high = scores["ci"][measure]
            row[title] += f" ({100 * low:.0f}–{100 * high:.0f})"
    return {**row, "tokens per call": f"{shown.call.tokens:,}"}


def _classes(shown: Sequence[RunShown]) -> list[dict[str, Any]]:
    """F1, S and C of each class under each run's prompt, for the classes that all runs have."""
    scores = [run.contents.chosen["test"].get("per_class", {}) for run in shown]
    shared = set.intersection(*map(set, scores))
    return [{"name": name, "runs": list(map(itemgetter(name), scores))} for name in scores[0] if name in shared]


def _pair(first: str, second: str, runs: TwoRuns) -> dict[str, Any]:
    """A run next to the first: its test, the samples that moved, and what differs between the prompts."""
    ours, theirs = runs.first.contents, runs.second.contents
    old, new = (f"{text_to_read(contents.prompt)}\n" for contents in (ours, theirs))
    old_name, new_name = f"{first}, {ours.chosen['id']}", f"{second}, {theirs.chosen['id']}"
    pair: dict[str, Any] = {
        "names": [first, second],
        "sentences": runs.sentences,
        "moved": [],
        "diff": unified_diff(old, new, old_name, new_name),
        "length": price_line(runs.first.call, runs.second.call).replace("->", "→"),
    }
    if runs.common:
        pair["moved"] = fixed_and_broken(runs.common[0], runs.common[1], _MOST_MOVED)
        pair["n_common"] = len(runs.common[0].samples)
    return pair
