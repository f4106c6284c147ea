"""How often the interval of macro-F1 holds the truth, also where classes are rare.

`python benchmarks/coverage_macro.py` (`make bench-coverage`) draws data sets of classes of unequal size, whose samples
vary in difficulty and whose wordings vary in quality, and writes what it counts to benchmarks/coverage_macro.md.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from psopt.metrics import macro_f1, macro_f1_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

HERE = Path(__file__).parent
CLASSES = {
    "two, even": (0.5, 0.5),
    "four, 40 to 10 %": (0.4, 0.3, 0.2, 0.1),
    "six, 60 to 2 %": (0.6, 0.2, 0.1, 0.05, 0.03, 0.02),
}
ACCURACIES = (0.85, 0.97)  # of a median sample and wording
SIZES = ((20, 10), (50, 10), (200, 5), (200, 10), (500, 10))
SAMPLE_SD, WORDING_SD = 1.5, 0.4  # on the logit scale
RUNS = 400
HEAD = """# What the interval of macro-F1 holds

Written by `make bench-coverage`: 400 data sets a cell, in percent. Of a 95 % interval the truth should lie inside in
95, and below or above it in 2.5 each. Wide intervals inside which the truth always lies are those of classes that have
one sample or none in most data sets: of such a class nothing is known.

| classes | macro-F1 | N | Q | inside | below | above | mean width |
|---|--:|--:|--:|--:|--:|--:|--:|
"""


def draw(
    rng: np.random.Generator, n_samples: int, n_rephrasings: int, shares: tuple[float, ...], accuracy: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Answers (N, Q) and labels (N,); a wrong answer is any other class."""
    n_classes = len(shares)
    y = rng.choice(n_classes, size=n_samples, p=shares)
    ease = rng.normal(0, SAMPLE_SD, n_samples)[:, None] + rng.normal(0, WORDING_SD, n_rephrasings)
    is_right = rng.random(ease.shape) < 1 / (1 + np.exp(-np.log(accuracy / (1 - accuracy)) - ease))
    other = (y[:, None] + rng.integers(1, n_classes, size=ease.shape)) % n_classes
    return np.where(is_right, y[:, None], other), y


def row(rng: np.random.Generator, classes: str, accuracy: float, n_samples: int, n_rephrasings: int) -> str:
    """Count one cell."""
    shares = CLASSES[classes]
    labels = range(len(shares))
    large = (draw(rng, 5000, n_rephrasings, shares, accuracy) for _ in range(200))
    truth = float(np.mean([macro_f1(predictions, y, labels) for predictions, y in large]))
    ends = np.empty((RUNS, 2))
    for run in range(RUNS):
        predictions, y = draw(rng, n_samples, n_rephrasings, shares, accuracy)
        ends[run] = macro_f1_interval(predictions, y, len(shares) + 1, labels=labels).bounds
    below, above = 100 * np.mean(truth < ends[:, 0]), 100 * np.mean(truth > ends[:, 1])
    inside, width = 100 - below - above, np.ptp(ends, axis=1).mean()
    figures = f"{inside:.1f} | {below:.1f} | {above:.1f} | {width:.3f}"
    return f"| {classes} | {truth:.2f} | {n_samples} | {n_rephrasings} | {figures} |\n"


def main() -> None:
    """Count all cells."""
    rng = np.random.default_rng(0)
    rows = [row(rng, classes, accuracy, *size) for classes, accuracy, size in product(CLASSES, ACCURACIES, SIZES)]
    (HERE / "coverage_macro.md").write_text(HEAD + "".join(rows), "utf-8")


if __name__ == "__main__":
    main()
