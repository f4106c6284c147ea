"""How often intervals and tests of ordered labels hold: of closeness, and of S by the answers' similarities.

`python benchmarks/coverage_ordered.py` (`make bench-coverage`) draws from the populations of
benchmarks/coverage_cells.py, their six labels taken as steps of a scale, and writes what it counts to
benchmarks/coverage_ordered.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from coverage_cells import N_CLASSES, Table, draws, held
from psopt.answers import AnswerType
from psopt.metrics import compare_scores, mean_difference, mean_interval, score_intervals

if TYPE_CHECKING:
    from coverage_cells import Cell

HERE = Path(__file__).parent
ORDERED = AnswerType(tuple(map(float, range(N_CLASSES - 1))))
SIZES = ((50, 10), (200, 5), (200, 10), (500, 10))


def count(cell: Cell) -> dict[str, Any]:
    """Draw many data sets of one population and size, and count what holds of closeness and S."""
    runs = cell[-1]
    worth, similarity = ORDERED.worth, ORDERED.similarity
    assert worth is not None
    bounds, p_values = np.empty((runs, 2, 3)), np.empty((runs, 2))
    for run, (first, second, y) in enumerate(draws(cell)):
        before, after = worth[y[:, None], first], worth[y[:, None], second]
        of_s = score_intervals(first, y, N_CLASSES, similarity=similarity)["sensitivity"]
        bounds[run] = [tuple(mean_interval(before)), tuple(of_s)]
        s_differs = compare_scores(first, second, y, N_CLASSES, similarity=similarity)["sensitivity"]
        p_values[run] = [mean_difference(before, after).p_value, s_differs.p_value]
    return held(bounds, p_values)


def main() -> None:
    """Count all cells."""
    table = Table(
        of="ordered labels",
        scores="closeness / S",
        levels="closeness, S",
        told=lambda truth: f"{truth[0]:.2f}, {truth[1]:.3f}",
    )
    table.write(HERE / "coverage_ordered.md", count, SIZES, 400)


if __name__ == "__main__":
    main()
