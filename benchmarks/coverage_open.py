"""How often intervals and tests of several labels hold: of micro-F1, of S by Jaccard, of C pooled over labels.

`python benchmarks/coverage_open.py` (`make bench-coverage`) draws from the populations of
benchmarks/coverage_cells.py, their labels taken as sets of three, and writes what it counts to
benchmarks/coverage_open.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from coverage_cells import N_CLASSES, Table, draws, held
from psopt.answers import AnswerType, code_of
from psopt.evaluation import Predictions, compare_paired, score
from psopt.tasks import AnswerSpec, Sample, written_set

if TYPE_CHECKING:
    from coverage_cells import Cell

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


def count(cell: Cell) -> dict[str, Any]:
    """Draw many data sets of one population and size, and count what holds."""
    runs = cell[-1]
    bounds, p_values = np.empty((runs, 3, 3)), np.empty((runs, 3))
    for run, (first, second, y) in enumerate(draws(cell)):
        samples = tuple(Sample(str(row), "", SETS[label]) for row, label in enumerate(y.tolist()))
        before, after = predictions_of(first, samples), predictions_of(second, samples)
        scores = score(before, intervals=True)
        bounds[run] = [(getattr(scores, name), *scores.ci[name]) for name in MEASURES]
        differences = compare_paired(before, after)
        p_values[run] = [differences[name].p_value for name in MEASURES]
    return held(bounds, p_values)


def main() -> None:
    """Count all cells."""
    table = Table(
        of="several labels",
        scores="micro-F1 / S / C",
        levels="micro-F1, S, C",
        told=lambda truth: ", ".join(f"{value:.3f}" for value in truth),
    )
    table.write(HERE / "coverage_open.md", count, SIZES, 300)


if __name__ == "__main__":
    main()
