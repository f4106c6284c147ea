"""The section of RESULTS.md on what is recommended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from _promise_cells import clopper_pearson
from _tables import table
from psopt.search.gating import MARGIN_OF_S
from psopt.settings import GATE_MARGIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    Results = dict[str, Any]

_AS_PSOPT = "sure, two nominees"  # the knee and the shortest: `psopt.search.nominees`
_MOST_WORSE, _LEAST_KEPT, _AT = 0.05, 0.9, 500  # the targets, and the size that the second one is for


def promise(results: Results) -> str:
    """Shares of worse prompts, and of the gain, cell by cell."""
    head = (
        "population", "val = test", "runs", "knee: F1 / S, true", "optimism of val", "worse: knee, no gate", "likely",
        "sure", "at most", "two nominees", "recommended: likely", "sure", "gain kept: likely", "sure", "two nominees",
    )  # fmt: skip
    cells = [*results["cells"], *results["searches"]]
    return f"{verdict(results)}\n\n{table(head, [_row(cell) for cell in cells])}\n{_EXPLAINED}\n"


_EXPLAINED = (
    "Worse: the share of runs that recommend a prompt that is truly worse than the original prompt by more than .01 in "
    "F1 or in S; at most: the upper end of its 95 % interval (Clopper and Pearson). Likely and sure are the gate's "
    "modes, with the knee as the nominee; two nominees: sure, with the shortest prompt as the second. Recommended: the "
    "share of all runs that recommend a new prompt. Gain kept: the share of the knees' true gain in F1 - S, where that "
    "is at least a point on average."
)


def lm_promise(results: Results) -> str:
    """How many runs recommend a prompt that is truly worse, and how many of the knees are, by what they have."""
    head = (
        "model", "set", "original", "held back", "runs", "recommended", "worse", "at most", "worse knees",
        "true F1 and S", "gain kept",
    )  # fmt: skip
    rows = []
    for setting in dict.fromkeys(map(_setting_of, results["runs"])):
        runs = [run for run in results["runs"] if _setting_of(run) == setting]
        better = [run for run in runs if run["verdict"] == "better"]
        worse, knees = (sum(is_worse(run, name) for run in runs) for name in ("recommended", "knee"))
        truth = {name: np.mean([run["truth"][name] for run in runs], axis=0) for name in ("original", "recommended")}
        change = " -> ".join(f"{100 * f1:.1f}, {100 * s:.1f}" for f1, s in truth.values())
        most = f"{clopper_pearson(worse, len(runs)):.1%}"
        gains = [sum(_gain(run, name) for run in runs) for name in ("recommended", "knee")]
        kept = f"{gains[0] / gains[1]:.0%}"
        rows.append((*setting, len(runs), len(better), worse, most, knees, change, kept))
    explained = (
        "Held back: test samples, once val has a better candidate; psopt holds 40 back today, and held 20 before. Gain "
        "kept: the share of the knees' true gain in F1 - S."
    )
    return f"{explained}\n\n{table(head, rows)}"


def _setting_of(run: Results) -> tuple[Any, ...]:
    return tuple(run[name] for name in ("model", "dataset", "original", "held_back"))


def _gain(run: Results, name: str) -> float:
    """A prompt's true gain over the original one, in F1, and in S where the gate compares it."""
    (f1, s), (before_f1, before_s) = run["truth"][name], run["truth"]["original"]
    return float(f1 - before_f1 - (0.0 if run["f1_alone"] else s - before_s))


def is_worse(run: Results, name: str) -> bool:
    """Whether a prompt is truly worse than the original one: in F1, or in S where the gate compares it."""
    (f1, s), (before_f1, before_s) = run["truth"][name], run["truth"]["original"]
    return bool(f1 < before_f1 - GATE_MARGIN or (not run["f1_alone"] and s > before_s + MARGIN_OF_S))


def verdict(results: Results) -> str:
    """Say whether the targets are reached."""
    figures = headline(results)
    reached = "reached" if figures["worse"] <= _MOST_WORSE else "**not reached**"
    bounds = f"upper bound {figures['bound']:.1%}; target: {_MOST_WORSE:.0%}, {reached}"
    text = (
        f"With two nominees, as psopt has them, a worse prompt was handed back in at most {figures['worse']:.1%} of a "
        f"cell's runs ({bounds}); the knee without the gate was worse in up to {figures['knees']:.0%}."
    )
    if figures["kept"] is not None:
        held = "reached" if figures["kept"] >= _LEAST_KEPT else "**not reached**"
        text += f" With {_AT} samples of val and of test {figures['kept']:.0%} or more of the gain was kept ({held})."
    return text


def readme_line(results: Results) -> str:
    """The line in the README, which a test compares."""
    figures = headline(results)
    runs = results["cells"][0]["runs"]
    size = f"{len(results['cells'])} x {runs:,} simulated runs with known truth"
    return (
        f"In {size} (`make promise`) a worse prompt was recommended in at most {figures['worse']:.1%} of a setting's "
        f"runs; taking the best on val gave a worse prompt in up to {figures['knees']:.0%}. "
        f"With {_AT} samples of val and of test {figures['kept']:.0%} of the gain was kept."
    )


def headline(results: Results) -> dict[str, Any]:
    """The worst cell, and the smallest share of the gain that was kept where there was one."""
    gated = [(cell, cell["ways"][_AS_PSOPT]) for cell in results["cells"]]
    kept = [way["kept"] for cell, way in gated if cell["n"] == _AT and way["kept"] is not None and _has_good(cell)]
    return {
        "worse": max(way["worse"] / cell["runs"] for cell, way in gated),
        "bound": max(way["worse_most"] for _, way in gated),
        "knees": max(cell["ways"]["always"]["worse"] / cell["runs"] for cell, _ in gated),
        "kept": min(kept, default=None),
    }


def _has_good(cell: Results) -> bool:
    """Whether the knees are better in both: where they are worse in one, recommending them is no gain."""
    return bool(cell["population"] in {"small effects", "large effects"})


def _row(cell: Results) -> Sequence[Any]:
    ways, runs, knee = cell["ways"], cell["runs"], cell["knee"]
    always, likely, sure = (ways[way] for way in ("always", "likely", "sure"))
    two = ways.get("sure, two nominees")
    return (
        cell["population"],
        cell["n"],
        runs,
        f"{100 * knee['f1']:+.1f} / {100 * knee['sensitivity']:+.1f}",
        f"{100 * knee['optimism']:+.1f}",
        *(_share(way["worse"], runs) for way in (always, likely, sure)),
        f"{100 * sure['worse_most']:.1f} %",
        _share(two["worse"], runs) if two else None,
        *(_share(way["handed_back"], runs) for way in (likely, sure)),
        *(_kept(way) for way in (likely, sure, two)),
    )


def _share(count: int, runs: int) -> str:
    return f"{100 * count / runs:.1f} %"


def _kept(way: Results | None) -> str | None:
    return None if way is None or way["kept"] is None else f"{100 * way['kept']:.0f} %"
