"""The page of dspy_equal_calls.py: means over data sets and seeds, by number of calls and by data set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEASURES = ("f1", "sensitivity", "consistency")
UNOPTIMISED = "unoptimised"
IS_BETTER = {"f1": 1, "sensitivity": -1, "consistency": 1}

_LEAST_DRAWS = 3  # fewer show nothing of how draws differ

Rows = dict[str, dict[str, Any]]

_REWRITTEN = (
    "* Its writer put other instructions in the place of the user's, for which nobody wrote wordings: they are "
    "reworded by rule, which gives about the S of people's wordings (.99 to 1.19 of it)."
)


def page(result: dict[str, Any]) -> str:
    """All tables, as Markdown."""
    runs: dict[str, Rows] = result["runs"]
    sizes = result["sizes"]
    names = sorted({run.partition(" / ")[0] for run in runs})
    seeds = sorted({run.partition(" / ")[2] for run in runs})
    lines = [
        "# DSPy's optimizers within the same number of calls",
        "",
        f"Data sets {', '.join(names)}; seeds {', '.join(seeds)}; {sizes['train']} examples of train, {sizes['val']} "
        f"of val, {sizes['test']} of test under {sizes['wordings']} wordings by hand. The language model is "
        f"{result.get('model', 'minilm')}; {result.get('writer') or 'a stand-in by rule'} writes. "
        '"Surely worse": the 95 % interval of the difference from the unoptimised program, over examples and wordings, '
        "lies on the wrong side of nought; with nobody better or worse one in forty would. Seconds are of a machine "
        "that did other work too, and three of psopt.optimize's were paused for minutes.",
    ]
    for calls in _budgets(runs):
        lines += ["", f"## {calls:,} calls", "", *_overall(runs, calls), "", *_by_set(runs, names, calls)]
        lines += [*_leads(runs, calls), *_on_fewer_draws(runs, calls)]
    if any(row.get("is_rewritten") for rows in runs.values() for row in rows.values()):
        lines += ["", _REWRITTEN]
    return "\n".join(lines) + "\n"


def is_surely_worse(row: dict[str, Any], measure: str) -> bool:
    """Whether the interval of a difference lies completely on the wrong side of 0."""
    _, low, high = row["against"][measure]
    return bool(high < 0 if IS_BETTER[measure] > 0 else low > 0)


def _budgets(runs: dict[str, Rows]) -> list[int]:
    return sorted({int(key.partition(" / ")[2]) for rows in runs.values() for key in rows if " / " in key})


def _optimizers(runs: dict[str, Rows], calls: int) -> list[str]:
    """Those that every run has within a number of calls, in the order in which they ran."""
    rows = list(runs.values())
    return [key for key in rows[0] if key.endswith(f" / {calls}") and all(key in others for others in rows)]


def _overall(runs: dict[str, Rows], calls: int) -> list[str]:
    lines = [
        "| optimizer | F1 | S | C | surely worse in F1 / S / C | below in F1 | calls | seconds |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        f"| {UNOPTIMISED} | {' | '.join(_means(runs, UNOPTIMISED))} | | | | |",
    ]
    for key in _optimizers(runs, calls):
        rows = [rows[key] for rows in runs.values()]
        worse = " / ".join(str(sum(is_surely_worse(row, measure) for row in rows)) for measure in MEASURES)
        below = np.mean([row["against"]["f1"][0] < 0 for row in rows])
        costs = f"{np.mean([row['calls'] for row in rows]):,.0f} | {np.mean([row['seconds'] for row in rows]):.0f}"
        lines.append(
            f"| {_name(runs, key)} | {' | '.join(_means(runs, key))} | {worse} of {len(rows)} | {below:.0%} | {costs} |"
        )
    return lines


def _by_set(runs: dict[str, Rows], names: list[str], calls: int) -> list[str]:
    lines = [f"| F1 / S / C | {' | '.join(names)} |", f"|---|{'--:|' * len(names)}"]
    for key in (UNOPTIMISED, *_optimizers(runs, calls)):
        cells = []
        for name in names:
            of_set = {run: rows for run, rows in runs.items() if run.startswith(f"{name} / ")}
            cells.append(" / ".join(_means(of_set, key)))
        lines.append(f"| {key.partition(' / ')[0]} | {' | '.join(cells)} |")
    return lines


def _leads(runs: dict[str, Rows], calls: int) -> list[str]:
    """By how much the first optimizer leads each of the others, with Student's interval over the draws."""
    first, *others = _optimizers(runs, calls)
    if len(runs) < _LEAST_DRAWS or not others:
        return []
    lines = [
        "",
        f"{first.partition(' / ')[0]} against the others, in points, with 95 % intervals over the {len(runs)} draws "
        "(Student's t; draws of one data set are alike, which makes these a little narrow):",
        "",
        "| optimizer | F1 | S | C |",
        "|---|--:|--:|--:|",
    ]
    for other in others:
        cells = []
        for measure in MEASURES:
            leads = 100 * lead(runs, first, other, measure)
            half = stats.t.ppf(0.975, len(leads) - 1) * leads.std(ddof=1) / np.sqrt(len(leads))
            cells.append(f"{leads.mean():+.1f} ({leads.mean() - half:+.1f} to {leads.mean() + half:+.1f})")
        lines.append(f"| {other.partition(' / ')[0]} | {' | '.join(cells)} |")
    return lines


def lead(runs: dict[str, Rows], first: str, other: str, measure: str) -> NDArray[np.floating]:
    """Differences in a measure on each draw that both have, of the first less the other."""
    differences = [rows[first][measure] - rows[other][measure] for rows in runs.values() if {first, other} <= set(rows)]
    return np.array(differences)


def _on_fewer_draws(runs: dict[str, Rows], calls: int) -> list[str]:
    """Those that ran on only some of the draws, next to others on the same draws."""
    on_all = _optimizers(runs, calls)
    keys = dict.fromkeys(key for rows in runs.values() for key in rows if key.endswith(f" / {calls}"))
    rest = [key for key in keys if key not in on_all]
    if not rest:
        return []
    beside = (UNOPTIMISED, *on_all[:1])
    lines = [
        "",
        "On some of the draws, F1 / S / C there:",
        "",
        f"| optimizer | draws | its own | {' | '.join(key.partition(' / ')[0] for key in beside)} |",
        f"|---|--:|{'--:|' * (1 + len(beside))}",
    ]
    for key in rest:
        same = {run: rows for run, rows in runs.items() if key in rows}
        cells = " | ".join(" / ".join(_means(same, other)) for other in (key, *beside))
        lines.append(f"| {_name(same, key)} | {len(same)} | {cells} |")
    return lines


def _name(runs: dict[str, Rows], key: str) -> str:
    """An optimizer's name, with a mark where its writer has put other instructions in the place of the user's."""
    mark = "*" if any(rows[key].get("is_rewritten") for rows in runs.values()) else ""
    return key.partition(" / ")[0] + mark


def _means(runs: dict[str, Rows], key: str) -> list[str]:
    return [f"{np.mean([rows[key][measure] for rows in runs.values()]):.3f}" for measure in MEASURES]
