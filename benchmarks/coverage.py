"""How often intervals hold the truth, and how often a test sees a difference where there is none.

`python benchmarks/coverage.py` (`make bench-coverage`) draws data sets from populations whose truth is known, and
writes what it counts to benchmarks/coverage.json and benchmarks/coverage.md. The truth of S is S at *this* Q, and that
of C at this N and Q: the mean over all data sets of a cell.

The populations are those of benchmarks/coverage_cells.py.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from coverage_cells import N_CLASSES, POPULATIONS, USUAL, Population, cells_of, draws, held, logit_sd, options_of
from psopt.metrics import compare_scores, prediction_counts, sample_sensitivity, score_intervals, sensitivity
from scipy.special import expit, logit

if TYPE_CHECKING:
    from coverage_cells import Cell

HERE = Path(__file__).parent
SCORES = ("f1", "sensitivity", "consistency")
LIMIT_SAMPLES = 20_000
SIZES = tuple((n, q) for n in (20, 50, 200, 500) for q in (5, 10, 30) if n > 20 or q == 10)


def count(cell: Cell) -> dict[str, Any]:
    """Draw many data sets of one population and size, and count what holds."""
    population, n, q, runs = cell
    bounds, p_values = np.empty((runs, 3, 3)), np.empty((runs, 3))
    for run, (first, second, y) in enumerate(draws(cell)):
        bounds[run] = [tuple(interval) for interval in score_intervals(first, y, N_CLASSES).values()]
        p_values[run] = [found.p_value for found in compare_scores(first, second, y, N_CLASSES).values()]
    found = held(bounds, p_values)
    truth, low, high = found["truth"], bounds[:, :, 1], bounds[:, :, 2]
    rows = {
        "truth": truth.round(4),
        "covered": found["inside"],
        "truth_above": found["above"],
        "truth_below": found["below"],
        "false_differences": found["differences"],
        "width": found["width"].round(4),
    }
    scores = {
        name: {key: round(float(row[place]), 4) for key, row in rows.items()} for place, name in enumerate(SCORES)
    }
    bad = np.stack([high < truth, low > truth])
    alarms = bad[0, :, 0] | bad[1, :, 1] | bad[0, :, 2]
    return {
        **asdict(population),
        "n": n,
        "q": q,
        "runs": runs,
        "scores": scores,
        "any_alarm": round(100 * float(alarms.mean()), 4),
    }


def limits(population: Population, q: int) -> tuple[float, ...]:
    """S at infinitely many wordings, then the plain S and the jackknifed one at Q."""
    rng = np.random.default_rng(q)
    width = logit_sd(population)
    shares, eases = np.array(population.eases).T
    right = expit(logit(eases) + width * rng.normal(size=(4_000, 1))).mean(axis=0)
    wrong = (1 - right)[:, None] * ((1 - USUAL) / N_CLASSES + USUAL * (np.arange(N_CLASSES) == 1))
    answered = wrong + right[:, None] * (np.arange(N_CLASSES) == 0)
    truth = float(shares @ sample_sensitivity(answered / answered.sum(axis=1, keepdims=True)))
    kinds = rng.choice(len(shares), size=LIMIT_SAMPLES, p=shares)
    # each sample has its own wordings: their effects average out and are not shared
    eases_now = expit(logit(eases[kinds])[:, None] + width * rng.normal(size=(LIMIT_SAMPLES, q)))
    mistakes = np.where(rng.random((LIMIT_SAMPLES, q)) < USUAL, 1, rng.integers(N_CLASSES, size=(LIMIT_SAMPLES, q)))
    counts = prediction_counts(np.where(rng.random((LIMIT_SAMPLES, q)) < eases_now, 0, mistakes), N_CLASSES)
    return truth, *(sensitivity(counts, correction=correction) for correction in (None, "jackknife"))


def limits_table() -> list[str]:
    """Return the rows that show how much of S at infinitely many wordings is seen at Q."""
    rows = [
        "## S under ever more wordings",
        "",
        f"In percent of S at infinitely many wordings, over {LIMIT_SAMPLES:,} samples: S at Q, and jackknifed.",
        "",
        "| population | accuracy sd | S at infinity | Q = 3 | Q = 5 | Q = 10 | Q = 30 |",
        "|---|--:|--:|---|---|---|---|",
    ]
    for population in POPULATIONS:
        found = [limits(population, q) for q in (3, 5, 10, 30)]
        shares = [" / ".join(f"{100 * value / truth:.0f}" for value in values) for truth, *values in found]
        rows.append(f"| {population.name} | {population.accuracy_sd:g} | {found[0][0]:.3f} | {' | '.join(shares)} |")
    return rows


def markdown(cells: list[dict[str, Any]], runs: int) -> str:
    """Return the table of all cells, and that of S as wordings grow in number."""
    head = [
        "# What intervals and tests hold",
        "",
        f"Written by `make bench-coverage`: {runs:,} data sets a cell, in percent, F1 / S / C. Of a 95 % interval the",
        "truth should lie inside in 95, above in 2.5 and below in 2.5; a test at the 5 % level should see a difference",
        "where there is none in 5. `check --sure` with the truth at the bound passes F1 and C where the truth lies",
        "below, and S where it lies above; `check --alarm` fails them where it lies on the other side, and `any alarm`",
        "is one of the three.",
        "",
        "| population | F1, S | accuracy sd | N | Q | inside | above | below | any alarm | false differences |",
        "|---|---|--:|--:|--:|---|---|---|--:|---|",
    ]
    rows = []
    for cell in cells:
        scores = cell["scores"]
        level = f"{scores['f1']['truth']:.2f}, {scores['sensitivity']['truth']:.3f}"
        inside, above, below, differences = (
            " / ".join(f"{scores[name][key]:.1f}" for name in SCORES)
            for key in ("covered", "truth_above", "truth_below", "false_differences")
        )
        place = f"| {cell['name']} | {level} | {cell['accuracy_sd']:g} | {cell['n']} | {cell['q']} | "
        rows.append(place + f"{inside} | {above} | {below} | {cell['any_alarm']:.1f} | {differences} |")
    return "\n".join([*head, *rows, "", *limits_table(), ""])


def main() -> None:
    """Count all cells, one process per core."""
    parser = options_of("", 1000)
    parser.add_argument("--out", type=Path, default=HERE, help="folder of coverage.json and coverage.md")
    options = parser.parse_args()
    cells = cells_of(SIZES, options.runs)
    start = time.perf_counter()
    counted = []
    with multiprocessing.Pool(options.jobs) as pool:
        for cell in pool.imap_unordered(count, cells):
            counted.append(cell)
            held = " ".join(f"{cell['scores'][name]['covered']:.1f}" for name in SCORES)
            told = " ".join(f"{cell['scores'][name]['false_differences']:.1f}" for name in SCORES)
            print(f"{cell['name']} {cell['accuracy_sd']} {cell['n']} {cell['q']}: {held}, {told}", file=sys.stderr)
    counted.sort(key=lambda cell: (cell["name"], cell["accuracy_sd"], cell["n"], cell["q"]))
    (options.out / "coverage.json").write_text(json.dumps(counted, indent=1) + "\n")
    (options.out / "coverage.md").write_text(markdown(counted, options.runs))
    print(f"{len(cells)} cells in {time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
