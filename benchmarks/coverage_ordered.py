"""How often intervals and tests of ordered labels hold: of closeness, and of S by the answers' similarities.

`python benchmarks/coverage_ordered.py` (`make bench-coverage`) draws from the populations of benchmarks/coverage.py,
their six labels taken as steps of a scale, and writes what it counts to benchmarks/coverage_ordered.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from coverage import N_CLASSES, POPULATIONS, Population, draw, logit_sd
from psopt.answers import AnswerType
from psopt.metrics import compare_scores, mean_difference, mean_interval, score_intervals

HERE = Path(__file__).parent
ORDERED = AnswerType(tuple(map(float, range(N_CLASSES - 1))))
SIZES = ((50, 10), (200, 5), (200, 10), (500, 10))


def count(cell: tuple[Population, int, int, int]) -> dict[str, Any]:
    """Draw many data sets of one population and size, and count what holds of closeness and S."""
    population, n, q, runs = cell
    rng = np.random.default_rng([n, q, *population.name.encode(), round(1000 * population.accuracy_sd)])
    width = logit_sd(population)
    worth, similarity = ORDERED.worth, ORDERED.similarity
    assert worth is not None
    bounds, p_values = np.empty((runs, 2, 3)), np.empty((runs, 2))
    for run in range(runs):
        first, second, y = draw(population, width, n, q, rng)
        before, after = worth[y[:, None], first], worth[y[:, None], second]
        of_s = score_intervals(first, y, N_CLASSES, similarity=similarity)["sensitivity"]
        bounds[run] = [tuple(mean_interval(before)), tuple(of_s)]
        s_differs = compare_scores(first, second, y, N_CLASSES, similarity=similarity)["sensitivity"]
        p_values[run] = [mean_difference(before, after).p_value, s_differs.p_value]
    estimates, low, high = bounds.transpose(2, 0, 1)
    truth = estimates.mean(axis=0)
    return {
        "name": population.name,
        "accuracy_sd": population.accuracy_sd,
        "n": n,
        "q": q,
        "truth": truth,
        "inside": 100 * ((low <= truth) & (truth <= high)).mean(axis=0),
        "differences": 100 * (p_values < 0.05).mean(axis=0),
    }


def main() -> None:
    """Count all cells, one process a core."""
    parser = argparse.ArgumentParser(description="Coverage of intervals of ordered labels, and errors of tests")
    parser.add_argument("--runs", type=int, default=400, help="data sets a cell")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    cells = [(population, n, q, options.runs) for n, q in SIZES for population in POPULATIONS]
    rows = [
        "# What intervals and tests of ordered labels hold",
        "",
        f"Written by `make bench-coverage`: {options.runs:,} data sets a cell, in percent, closeness / S. Of a 95 %",
        "interval the truth should lie inside in 95; a test at the 5 % level should see a difference where there is",
        "none in 5.",
        "",
        "| population | closeness, S | accuracy sd | N | Q | inside | false differences |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    with multiprocessing.Pool(options.jobs) as pool:
        for cell in pool.imap(count, cells):
            closeness, sensitivity = cell["truth"]
            inside, differences = (
                " / ".join(f"{share:.1f}" for share in cell[key]) for key in ("inside", "differences")
            )
            rows.append(
                f"| {cell['name']} | {closeness:.2f}, {sensitivity:.3f} | {cell['accuracy_sd']:g} | {cell['n']} | "
                f"{cell['q']} | {inside} | {differences} |"
            )
            print(rows[-1], file=sys.stderr)
    (HERE / "coverage_ordered.md").write_text("\n".join([*rows, ""]))


if __name__ == "__main__":
    main()
