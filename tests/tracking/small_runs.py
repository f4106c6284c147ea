"""Small runs of the simulated model, for tests of trackers: a second each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psopt
from psopt.tasks import load_task

if TYPE_CHECKING:
    from pathlib import Path

SIM = "sim/accuracy=0.6,wobble=0.4"


def optimize(folder: Path, **options: Any) -> psopt.Run:
    """Four trials of 24 samples."""
    small = {"trials": 4, "samples": 24, "rephrasings": 3, "rounds": 1, "test_samples": 24, "heldout": 3}
    return psopt.optimize(load_task("trec"), **{"model": SIM, "out": folder, **small, **options})


def arguments(folder: Path, *more: str) -> list[str]:
    """The same for the command line."""
    sizes = ["--trials", "4", "--samples", "24", "--rephrasings", "3", "--rounds", "1", "--test-samples", "24"]
    given = ["--dataset", "trec", "--model", SIM, "--cache-dir", str(folder / "cache"), "--out", str(folder / "run")]
    return ["optimize", *given, *sizes, "--heldout", "3", *more]
