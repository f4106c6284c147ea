"""Two runs as a page: `psopt report A B`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psopt._version import __version__
from psopt.answers import answers_line
from psopt.evaluation import objective_values
from psopt.report._front_figure import fronts_figure
from psopt.report._page import render_page
from psopt.report._side_by_side import side_by_side
from psopt.runs import price_line, quality_name

if TYPE_CHECKING:
    from psopt.report._theme import Figure
    from psopt.report._two_runs import RunShown, TwoRuns

_MOST_MOVED = 15


def runs_page(runs: TwoRuns) -> tuple[str, list[Figure]]:
    """Render two runs as HTML that opens offline, every text in it escaped; return it with its figures."""
    shown = (runs.first, runs.second)
    names = names_of(runs)
    prompts = [run.contents.texts[run.contents.chosen["id"]] for run in shown]
    figure = fronts_figure({name: run.contents.run for name, run in zip(names, shown, strict=True)})
    page = render_page(
        "runs.html",
        [figure],
        names=names,
        runs=shown,
        sentences=runs.sentences,
        measures=measure_rows(runs),
        classes=_classes(runs),
        moved=moved_samples(runs),
        n_common=len(runs.common[0].samples) if runs.common else 0,
        changed=runs.changed_settings,
        rows=side_by_side(*prompts),
        length=price_line(runs.first.call, runs.second.call).replace("->", "→"),
        front=figure,
        version=__version__,
    )
    return page, [figure]


def names_of(runs: TwoRuns) -> tuple[str, str]:
    """What the runs are called in tables: the last parts of their folders that tell them apart."""
    first, second = (shown.name.rstrip("/").split("/") for shown in (runs.first, runs.second))
    for n_parts in range(1, max(len(first), len(second)) + 1):
        names = "/".join(first[-n_parts:]), "/".join(second[-n_parts:])
        if names[0] != names[1]:
            return names
    return "first", "second"  # one run beside itself


def measure_rows(runs: TwoRuns) -> list[dict[str, Any]]:
    """Every measure on test with its interval: of the baseline and of the prompt of each run, and the verdict."""
    names = {"f1": quality_name(runs.first.contents.run), "sensitivity": "S", "consistency": "C"}
    scores = [_scores(runs.first), _scores(runs.second)]
    measures = [measure for measure in objective_values(scores[0]["chosen"]) if measure in names]
    rows = []
    for measure in measures:
        difference = runs.differences.get(measure)
        rows.append(
            {
                "measure": measure,
                "name": names[measure],
                "runs": scores,
                "difference": difference,
                "verdict": runs.verdict(measure) if difference else "",
            }
        )
    return rows


def _scores(shown: RunShown) -> dict[str, Any]:
    return {"baseline": shown.contents.run["baseline"]["test"], "chosen": shown.contents.chosen["test"]}


def _classes(runs: TwoRuns) -> list[dict[str, Any]]:
    """F1, S and C of each class under both prompts, of the classes that both have."""
    first, second = (shown.contents.chosen["test"].get("per_class", {}) for shown in (runs.first, runs.second))
    return [{"name": name, "first": first[name], "second": second[name]} for name in first if name in second]


def moved_samples(runs: TwoRuns) -> list[dict[str, Any]]:
    """The samples that both runs tested and whose share of right answers differs most, the worst for the second first.

    Of answers that are graded it is their mean worth.
    """
    if not runs.common:
        return []
    first, second = runs.common
    change = second.share_right - first.share_right
    most = [index for index in np.argsort(-np.abs(change), kind="stable")[:_MOST_MOVED] if change[index]]
    rows = []
    for index in sorted(most, key=lambda place: change[place]):
        sample = first.samples[index]
        answered = [answers_line(predictions.answers_to(int(index))) for predictions in runs.common]
        shares = [float(predictions.share_right[index]) for predictions in runs.common]
        rows.append({"id": sample.id, "text": sample.text, "label": sample.label, "answers": answered, "right": shares})
    return rows
