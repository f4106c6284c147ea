"""The terminal during a run: what is being done, a progress bar, what it costs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from psopt.cli._expected import Expected
from psopt.cli._remaining import RemainingColumn
from psopt.evaluation import na_note
from psopt.search import Observer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from psopt.models.chat import Budget
    from psopt.runs import CostEstimate, Plan
    from psopt.search import Candidate, StoppedCandidate
    from psopt.tasks import Task


class Screen(Observer):
    """Shows how a run goes, on standard error: standard output is for its result."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._err = Console(stderr=True, quiet=quiet, highlight=False)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[best]}"),
            TimeElapsedColumn(),
            RemainingColumn(),
            console=self._err,
            transient=True,
            disable=quiet or not self._err.is_terminal,
        )
        self._trials = self._progress.add_task("trials", total=None, best="")
        self._reading = self._progress.add_task("texts read", total=None, visible=False, best="")
        self._folder: Path | None = None
        self._best = (0.0, 1.0, 0.0)
        self._expected: Expected | None = None
        self._expectations: Sequence[str] = ()

    def expect(self, estimate: CostEstimate, lines: Sequence[str]) -> None:
        """Say, as the run starts, what it is expected to take, and hold it against that."""
        self._expected = Expected(estimate)
        self._expectations = lines

    def plan(self, plan: Plan) -> None:
        """Say how large the run will be, before anything else."""
        self._say(f"{plan.line[0].upper()}{plan.line[1:]}")
        for warning in plan.warnings:
            self._say(f"Note: {warning}", style="yellow")

    def __enter__(self) -> Screen:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def started(self, task: Task, folder: Path) -> None:
        """Say what the run is about and where it is written."""
        self._folder = folder
        if task.info.note:
            self._say(f"Note: {task.info.note}", style="yellow")
        sizes = f"{len(task.train)} train, {len(task.val)} val, {len(task.test)} test"
        self._say(f"{task.name} ({task.info.source}): {len(task.labels)} labels, {sizes}")
        self._say(f"Run directory: {folder}")
        for line in self._expectations:
            self._say(f"Expected: {line}")

    def phase(self, what: str) -> None:
        """Show what is being done."""
        self._progress.update(self._reading, visible=False)
        self._err.print(f"· {what}", markup=False, style="dim")

    def answers(self, done: int, total: int) -> None:
        """Show how far a long reading has come."""
        self._progress.update(self._reading, completed=done, total=total, visible=True)

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """Move the bar on, with the best of each objective so far."""
        if not candidate.edits and (note := na_note(candidate.val.na_rate, candidate.val.na_kinds)):
            self._say(f"Note: {note}", style="yellow")
        self._best = self._better(candidate)
        self._move_on(n_done, n_total)
        if self._expected is not None and self.budget is not None:
            surprise = self._expected.surprise(self.budget.usage)
            if surprise is not None:
                self._say(f"Note: {surprise}", style="yellow")

    def stopped(self, candidate: StoppedCandidate, n_done: int, n_total: int) -> None:  # noqa: ARG002
        """Move the bar on."""
        self._move_on(n_done, n_total)

    def _move_on(self, n_done: int, n_total: int) -> None:
        f1, s, c = self._best
        self._progress.update(self._reading, visible=False)
        self._progress.update(
            self._trials,
            completed=n_done,
            total=n_total,
            best=f"best F1 {f1:.3f}  S {s:.3f}  C {c:.3f}{_spent(self.budget, self._expected)}",
        )

    def _say(self, line: str, style: str = "") -> None:
        self._err.print(line, style=style, markup=False, soft_wrap=True)

    def _better(self, candidate: Candidate) -> tuple[float, float, float]:
        f1, s, c = self._best
        val = candidate.val
        return max(f1, val.f1), min(s, val.sensitivity), max(c, val.consistency)

    def interrupted(self) -> bool:
        """Say that what was found is kept; returns whether there is anything yet."""
        self._progress.stop()
        if self._folder is None:
            return False
        folder = shlex.quote(str(self._folder))
        self._say(f"Interrupted. What was found is saved; go on with: psopt resume {folder}")
        return True


def _spent(budget: Budget | None, expected: Expected | None) -> str:
    """Tokens and money so far, of what limit, and at the end of the run if it goes on like this."""
    if budget is None or not budget.usage.tokens:
        return ""
    usage = budget.usage
    tokens = f"  {usage.tokens / 1e6:.2g}M tokens" if usage.tokens >= 1e6 else f"  {usage.tokens:,} tokens"
    if not usage.cost:
        return tokens
    limit = f" of {budget.max_cost:g}" if budget.max_cost is not None else ""
    at_end = f", about {expected.cost_at_end(usage):.2g} at the end" if expected is not None else ""
    return f"  {usage.cost:.2g}{limit} USD{at_end}{tokens}"
