"""The terminal during and after a run: a progress bar, then the front as a table."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from psopt.search import Observer

if TYPE_CHECKING:
    from types import TracebackType

    from psopt.optimization import Run
    from psopt.scoring import Scores
    from psopt.search import Candidate
    from psopt.tasks import Task


class Screen(Observer):
    """Shows a run; what is said while it runs goes to standard error, the result to standard output."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._err = Console(stderr=True, quiet=quiet, highlight=False)
        self._out = Console(quiet=quiet, highlight=False)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[best]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._err,
            transient=True,
            disable=quiet or not self._err.is_terminal,
        )
        self._trials = self._progress.add_task("trials", total=None, best="")
        self._reading = self._progress.add_task("texts read", total=None, visible=False, best="")
        self._phase = ""

    def __enter__(self) -> Screen:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def dataset(self, task: Task) -> None:
        """Say what the run is about."""
        if task.info.note:
            self._err.print(f"Note: {task.info.note}", style="yellow", markup=False)
        sizes = f"{len(task.train)} train, {len(task.val)} val, {len(task.test)} test"
        self._err.print(f"{task.name} ({task.info.source}): {len(task.labels)} labels, {sizes}", markup=False)

    def phase(self, what: str) -> None:
        """Show what is being done."""
        self._phase = what
        self._progress.update(self._reading, visible=False)
        self._err.print(f"· {what}", markup=False, style="dim")

    def answers(self, done: int, total: int) -> None:
        """Show how far a long reading has come."""
        self._progress.update(self._reading, completed=done, total=total, visible=True)

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """Move the bar on, with the best of each objective so far."""
        self._best = self._better(candidate)
        f1, s, c = self._best
        self._progress.update(self._reading, visible=False)
        self._progress.update(
            self._trials, completed=n_done, total=n_total, best=f"best F1 {f1:.3f}  S {s:.3f}  C {c:.3f}"
        )

    _best: tuple[float, float, float] = (0.0, 1.0, 0.0)

    def _better(self, candidate: Candidate) -> tuple[float, float, float]:
        f1, s, c = self._best
        val = candidate.val
        return max(f1, val.f1), min(s, val.sensitivity), max(c, val.consistency)

    def interrupted(self) -> None:
        """Say that what was found is kept."""
        self._progress.stop()
        self._err.print("\nInterrupted; what was found is saved. Go on with: psopt resume RUN")

    def result(self, run: Run) -> None:
        """Print the front, where the files are, and what to do next."""
        chosen = run.pick("knee")
        table = Table(title="The front: val chose, test (held-out rephrasings) reports, in percent", title_justify="left")
        table.add_column("prompt", no_wrap=True)
        table.add_column("edits", justify="right")
        for name in ("F1", "S", "C"):
            table.add_column(f"test {name}", justify="right", no_wrap=True)
        for name in ("F1", "S", "C"):
            table.add_column(f"val {name}", justify="right")
        for candidate in (run.baseline, *(one for one in run.front if one.id != run.baseline.id)):
            name = "baseline" if candidate is run.baseline else candidate.id
            style = "bold green" if candidate.id == chosen.id else None
            mark = " ★ knee" if candidate.id == chosen.id else ""
            cells = [*_cells(candidate.test, intervals=True), *_cells(candidate.val)]
            table.add_row(name + mark, str(len(candidate.edits)), *cells, style=style)
        self._out.print(table)
        folder = shlex.quote(str(run.path))
        self._out.print(f"Report: {run.path / 'report.html'}", markup=False, soft_wrap=True)
        self._out.print("Next:", f"psopt export {folder} --pick knee --format text", markup=False, soft_wrap=True)
        self._out.print(f"      psopt dashboard {folder}", markup=False, soft_wrap=True)


def _cells(scores: Scores | None, *, intervals: bool = False) -> list[str]:
    if scores is None:
        return ["–"] * 3
    cells = []
    for name in ("f1", "sensitivity", "consistency"):
        cell = f"{100 * getattr(scores, name):.1f}"
        if intervals:
            low, high = scores.ci[name]
            cell += f" [{100 * low:.0f}–{100 * high:.0f}]"
        cells.append(cell)
    return cells
