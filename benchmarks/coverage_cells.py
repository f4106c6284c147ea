"""Populations whose truth is known, and how well intervals and tests hold on data sets drawn from them.

The three benchmarks of coverage share this: coverage.py, coverage_ordered.py and coverage_open.py.

Populations: six labels and N/A. Each sample has an ease, the chance of a right answer, and a usual mistake; each
wording moves all samples' ease on the logit scale so that accuracy scatters by the given standard deviation over
wordings. Two truly equal prompts share the samples, but each has its own effects of wordings and, for a third of the
samples, its own ease.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Cell = tuple["Population", int, int, int]
    """A population, N, Q, and how many data sets are drawn."""

EXPECTED = (
    "interval the truth should lie inside in 95; a test at the 5 % level should see a difference where there is",
    "none in 5.",
)
N_CLASSES = 7
USUAL = 0.8  # of the mistakes on a sample are its usual one
SWAPPED = 1 / 3  # of the samples have another ease under the second prompt


@dataclass(frozen=True)
class Population:
    """Samples and wordings to draw from: shares of samples by their ease, and how accuracy scatters over wordings."""

    name: str
    eases: tuple[tuple[float, float], ...]
    accuracy_sd: float


# (share, ease): most samples are sure, some are wrong, some are in between
STEADY = ((0.78, 0.995), (0.14, 0.03), (0.08, 0.5))
SHAKY = ((0.3, 0.98), (0.3, 0.85), (0.25, 0.7), (0.15, 0.35))
CEILING = ((0.96, 0.9995), (0.01, 0.05), (0.03, 0.7))
POPULATIONS = (
    Population("steady", STEADY, 0.0),
    Population("steady", STEADY, 0.05),
    Population("shaky", SHAKY, 0.0),
    Population("shaky", SHAKY, 0.05),
    Population("ceiling", CEILING, 0.0),
    Population("ceiling", CEILING, 0.005),
)


def logit_sd(population: Population) -> float:
    """The standard deviation on the logit scale that gives accuracy its standard deviation over wordings."""
    if population.accuracy_sd == 0:
        return 0.0
    shares, eases = np.array(population.eases).T
    normal = np.random.default_rng(0).normal(size=2_000)

    def scatter(width: float) -> float:
        return float((expit(logit(eases) + width * normal[:, None]) @ shares).std())

    widths = np.linspace(0.01, 3, 300)
    return float(widths[np.argmin([abs(scatter(width) - population.accuracy_sd) for width in widths])])


def draw(
    population: Population, width: float, n: int, q: int, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Answers of two truly equal prompts (N, Q), and the labels (N,)."""
    shares, eases = np.array(population.eases).T
    y = rng.integers(N_CLASSES - 1, size=n)
    usual = (y + rng.integers(1, N_CLASSES, size=n)) % N_CLASSES
    kinds = rng.choice(len(shares), size=(2, n), p=shares)
    kinds[1] = np.where(rng.random(n) < SWAPPED, kinds[1], kinds[0])
    answers = []
    for of_prompt in kinds:
        effects = width * rng.normal(size=q)
        right = rng.random((n, q)) < expit(logit(eases[of_prompt])[:, None] + effects)
        wrong = np.where(rng.random((n, q)) < USUAL, usual[:, None], rng.integers(N_CLASSES, size=(n, q)))
        answers.append(np.where(right, y[:, None], wrong))
    return answers[0], answers[1], y


def draws(cell: Cell) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Every data set of a cell: the answers of two prompts and the labels."""
    population, n, q, runs = cell
    rng = np.random.default_rng([n, q, *population.name.encode(), round(1000 * population.accuracy_sd)])
    width = logit_sd(population)
    for _ in range(runs):
        yield draw(population, width, n, q, rng)


def held(bounds: NDArray[Any], p_values: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """How often intervals and tests of each score hold, in percent of the data sets; the truth is the mean estimate.

    Parameters
    ----------
    bounds : (n_runs, n_scores, 3) float
        An estimate and its interval.
    p_values : (n_runs, n_scores) float
        From tests of two truly equal prompts.
    """
    estimates, low, high = bounds.transpose(2, 0, 1)
    truth = estimates.mean(axis=0)
    return {
        "truth": truth,
        "inside": 100 * ((low <= truth) & (truth <= high)).mean(axis=0),
        "above": 100 * (truth > high).mean(axis=0),
        "below": 100 * (truth < low).mean(axis=0),
        "differences": 100 * (p_values < 0.05).mean(axis=0),
        "width": (high - low).mean(axis=0),
    }


def options_of(of: str, runs: int) -> argparse.ArgumentParser:
    """The options that they all take."""
    parser = argparse.ArgumentParser(description=f"Coverage of intervals{of}, and errors of tests")
    parser.add_argument("--runs", type=int, default=runs, help="data sets a cell")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    return parser


def cells_of(sizes: Sequence[tuple[int, int]], runs: int) -> list[Cell]:
    """Every population at every size."""
    return [(population, n, q, runs) for n, q in sizes for population in POPULATIONS]


def percent(shares: NDArray[Any]) -> str:
    """Shares of several scores side by side."""
    return " / ".join(f"{share:.1f}" for share in shares)


@dataclass(frozen=True)
class Table:
    """A table of cells, as Markdown.

    Attributes
    ----------
    of : str
        What is counted, as in ``ordered labels``.
    scores, levels : str
        The names of its scores, in its text and in its head.
    told : callable
        From the true scores to their text in a row.
    """

    of: str
    scores: str
    levels: str
    told: Callable[[NDArray[Any]], str]

    def write(
        self,
        path: Path,
        count: Callable[[Cell], dict[str, NDArray[Any]]],
        sizes: Sequence[tuple[int, int]],
        default_runs: int,
    ) -> None:
        """Count all cells, as the options say, and write the table; one process per core."""
        options = options_of(f" of {self.of}", default_runs).parse_args()
        rows = self._head(options.runs)
        cells = cells_of(sizes, options.runs)
        with multiprocessing.Pool(options.jobs) as pool:
            for (population, n, q, _), found in zip(cells, pool.imap(count, cells), strict=True):
                place = f"| {population.name} | {self.told(found['truth'])} | {population.accuracy_sd:g} | {n} | {q} | "
                rows.append(place + f"{percent(found['inside'])} | {percent(found['differences'])} |")
                print(rows[-1], file=sys.stderr)
        path.write_text("\n".join([*rows, ""]))

    def _head(self, runs: int) -> list[str]:
        return [
            f"# What intervals and tests of {self.of} hold",
            "",
            f"Written by `make bench-coverage`: {runs:,} data sets a cell, in percent, {self.scores}. Of a 95 %",
            *EXPECTED,
            "",
            f"| population | {self.levels} | accuracy sd | N | Q | inside | false differences |",
            "|---|---|--:|--:|--:|---|---|",
        ]
