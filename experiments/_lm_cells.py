"""What the experiments on language models have in common: their options, and results that are saved part by part."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _lm_sets import NAMES
from psopt.metrics import consistency, micro_f1, prediction_counts, sensitivity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.tasks import Task


def lm_parser(doc: str | None, sets: Sequence[str] = NAMES) -> argparse.ArgumentParser:
    """A parser of the options that they share: models, sets, and the folders of data and of results."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--sets", nargs="+", default=sets)
    folder = Path(os.environ.get("PSOPT_DATA_DIR") or "data")
    parser.add_argument("--data", type=Path, default=folder, help="default $PSOPT_DATA_DIR; it holds trec/ and more/")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    return parser


class KeptResults:
    """Results in a JSON file: `rows` under a name, written whenever some are added, and read if they exist."""

    def __init__(self, folder: Path, name: str, rows: str, words: str, **more: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"{name}.json"
        kept = json.loads(self._file.read_text("utf-8")) if self._file.exists() else {}
        self.content: dict[str, Any] = {**more, rows: [], **kept, "setting": {"words": words}}
        self.rows: list[dict[str, Any]] = self.content[rows]

    def has(self, **fields: Any) -> bool:
        """Whether there is a row with these values."""
        return any(all(row[name] == value for name, value in fields.items()) for row in self.rows)

    def measure(self, cell: dict[str, Any], measured: Callable[..., dict[str, Any]], *arguments: Any) -> None:
        """Measure a cell, then add and print its row, unless there is one already."""
        if not self.has(**cell):
            self.add({**cell, **measured(*arguments)})
            print(json.dumps(self.rows[-1]), flush=True)

    def measure_each(
        self, words: argparse.Namespace, field: str, values: Sequence[Any], measured: Callable[..., dict[str, Any]]
    ) -> None:
        """Measure a cell of each model, data set and value; `measured` takes these, and the folder of the data."""
        for name in words.models:
            for dataset in words.sets:
                for value in values:
                    cell = {"model": Path(name).stem, "dataset": dataset, field: value}
                    self.measure(cell, measured, name, dataset, value, words.data)

    def add(self, *rows: dict[str, Any]) -> None:
        """Add rows, and save everything."""
        self.rows += rows
        self._file.write_text(json.dumps(self.content, indent=1) + "\n", "utf-8")


def figures_of(grid: NDArray[np.int64], truth: NDArray[np.int64], task: Task) -> list[float]:
    """F1, S and C of answers, (N, Q)."""
    counts = prediction_counts(grid, len(task.labels) + 1)
    figures = (micro_f1(grid, truth), sensitivity(counts), consistency(counts, truth))
    return [round(float(figure), 3) for figure in figures]
