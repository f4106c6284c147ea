"""How often intervals and tests of several labels hold: of micro-F1, of S by Jaccard, of C pooled over labels.

`python benchmarks/coverage_open.py` (`make bench-coverage`) draws from the populations of benchmarks/coverage.py, their
labels taken as sets of three, and writes what it counts to benchmarks/coverage_open.md.
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
from psopt.answers import AnswerType, code_of
from psopt.evaluation import Predictions, compare_paired, score
from psopt.tasks import AnswerSpec, Sample, written_set

HERE = Path(__file__).parent
LABELS = ("a", "b", "c")
SETS = [written_set(members, LABELS) for members in ("", "a", "b", "ab", "ac", "abc")]
assert len(SETS) == N_CLASSES - 1
SEVERAL = AnswerType(spec=AnswerSpec("labels"))
SIZES = ((50, 10), (200, 5), (200, 10))
MEASURES = ("f1", "sensitivity", "consistency")


def predictions_of(answers: np.ndarray[Any, np.dtype[np.int64]], samples: tuple[Sample, ...]) -> Predictions:
    """Classes as sets; the last is N/A."""
    codes = np.array([*map(code_of, SETS), len(LABELS)])
    return Predictions(codes[answers], samples, LABELS, answers=SEVERAL)


def count(cell: tuple[Population, int, int, int]) -> dict[str, Any]:
    """Draw many data sets of one population and size, and count what holds."""
    population, n, q, runs = cell
    rng = np.random.default_rng([n, q, *population.name.encode(), round(1000 * population.accuracy_sd)])
    width = logit_sd(population)
    bounds, p_values = np.empty((runs, 3, 3)), np.empty((runs, 3))
    for run in range(runs):
        first, second, y = draw(population, width, n, q, rng)
        samples = tuple(Sample(str(row), "", SETS[label]) for row, label in enumerate(y.tolist()))
        before, after = predictions_of(first, samples), predictions_of(second, samples)
        scores = score(before, intervals=True)
        bounds[run] = [(getattr(scores, name), *scores.ci[name]) for name in MEASURES]
        differences = compare_paired(before, after)
        p_values[run] = [differences[name].p_value for name in MEASURES]
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
    parser = argparse.ArgumentParser(description="Coverage of intervals of several labels, and errors of tests")
    parser.add_argument("--runs", type=int, default=300, help="data sets a cell")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()
    cells = [(population, n, q, options.runs) for n, q in SIZES for population in POPULATIONS]
    rows = [
        "# What intervals and tests of several labels hold",
        "",
        f"Written by `make bench-coverage`: {options.runs:,} data sets a cell, in percent, micro-F1 / S / C. Of a 95 %",
        "interval the truth should lie inside in 95; a test at the 5 % level should see a difference where there is",
        "none in 5.",
        "",
        "| population | micro-F1, S, C | accuracy sd | N | Q | inside | false differences |",
        "|---|---|--:|--:|--:|---|---|",
    ]
    with multiprocessing.Pool(options.jobs) as pool:
        for cell in pool.imap(count, cells):
            truth = ", ".join(f"{value:.3f}" for value in cell["truth"])
            inside, differences = (
                " / ".join(f"{share:.1f}" for share in cell[key]) for key in ("inside", "differences")
            )
            rows.append(
                f"| {cell['name']} | {truth} | {cell['accuracy_sd']:g} | {cell['n']} | {cell['q']} | {inside} | "
                f"{differences} |"
            )
            print(rows[-1], file=sys.stderr)
    (HERE / "coverage_open.md").write_text("\n".join([*rows, ""]))


if __name__ == "__main__":
    main()
