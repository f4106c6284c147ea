"""Small runs of the simulated model, for tests of trackers, a second each; and a tracker that keeps what it is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psopt
from psopt.search_spaces import Prompt
from psopt.tasks import load_task
from psopt.tracking import Ending, RunRecord, Tracker, TrialRecord

SIM = "sim/accuracy=0.6,wobble=0.4"
SMALL = {"trials": 4, "samples": 24, "rephrasings": 3, "rounds": 1, "test_samples": 24, "heldout": 3}


def optimize(folder: Path, **options: Any) -> psopt.Run:
    """Four trials of 24 samples."""
    return psopt.optimize(load_task("trec"), **{"model": SIM, "out": folder, **SMALL, **options})


def arguments(folder: Path, *more: str) -> list[str]:
    """The same for the command line."""
    sizes = [f"--{name.replace('_', '-')}={size}" for name, size in SMALL.items()]
    given = ["--dataset", "trec", "--model", SIM, "--cache-dir", str(folder / "cache"), "--out", str(folder / "run")]
    return ["optimize", *given, *sizes, *more]


class Listening(Tracker):
    """Writes down what it is told; raises at the events that it is told to."""

    def __init__(
        self, failing_at: str = "nothing", error: BaseException | None = None, name: str = "listening"
    ) -> None:
        self.name, self._failing_at = name, failing_at
        self._error = error or ValueError("no space\nleft")
        self.told: list[str] = []
        self.metrics: dict[str, float] = {}
        self.trials: dict[int, TrialRecord] = {}

    def _hear(self, what: str) -> None:
        self.told.append(what)
        if what.startswith(self._failing_at):
            raise self._error

    def check(self) -> None:
        self._hear("check")

    def start(self, run: RunRecord, kept: dict[str, Any]) -> None:
        kept["begun"] = kept.get("begun", 0) + 1
        self._hear(f"start {kept['begun']}")

    def begin_trial(self, number: int, prompt: Prompt) -> None:
        self._hear(f"begin {number}")

    def trial(self, trial: TrialRecord) -> None:
        self.trials[trial.number] = trial
        self._hear(f"trial {trial.number}")

    def end(self, run: RunRecord, ending: Ending) -> None:
        self.metrics = run.metrics
        self._hear(f"end {ending}")

    def close(self) -> None:
        self._hear("close")


class NeedsAKey(Listening):
    """A tracker that nobody can make without its key."""

    def __init__(self, key: str) -> None:
        super().__init__(name=key)
