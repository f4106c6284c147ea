"""The terminal during and after a run: a progress bar, then the front as a table."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from psopt.cli._expected import Expected
from psopt.cli._remaining import RemainingColumn
from psopt.evaluation import OBJECTIVES, na_lines, na_note
from psopt.search import Observer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from psopt.models.chat import Budget
    from psopt.runs import CostEstimate, Run
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
        self._expected, self._expectations = Expected(estimate), lines

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
            self._err.print(f"Note: {task.info.note}", style="yellow", markup=False, soft_wrap=True)
        sizes = f"{len(task.train)} train, {len(task.val)} val, {len(task.test)} test"
        self._err.print(
            f"{task.name} ({task.info.source}): {len(task.labels)} labels, {sizes}", markup=False, soft_wrap=True
        )
        self._err.print(f"Run directory: {folder}", markup=False, soft_wrap=True)
        for line in self._expectations:
            self._err.print(f"Expected: {line}", markup=False, soft_wrap=True)

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
            self._err.print(f"Note: {note}", style="yellow", markup=False, soft_wrap=True)
        self._best = self._better(candidate)
        f1, s, c = self._best
        self._progress.update(self._reading, visible=False)
        self._progress.update(
            self._trials,
            completed=n_done,
            total=n_total,
            best=f"best F1 {f1:.3f}  S {s:.3f}  C {c:.3f}{_spent(self.budget, self._expected)}",
        )
        if self._expected is not None and self.budget is not None:
            surprise = self._expected.surprise(self.budget.usage)
            if surprise is not None:
                self._err.print(f"Note: {surprise}", style="yellow", markup=False, soft_wrap=True)

    def _better(self, candidate: Candidate) -> tuple[float, float, float]:
        f1, s, c = self._best
        val = candidate.val
        return max(f1, val.f1), min(s, val.sensitivity), max(c, val.consistency)

    def _note_na(self, run: Run) -> None:
        """Say of the seed prompt and of the chosen one what answers that name no label said."""
        chosen = run.pick("knee")
        shown = {"baseline": run.baseline, chosen.id: chosen} if chosen.id != run.baseline.id else {"": run.baseline}
        for name, candidate in shown.items():
            for line in _na_lines(candidate):
                self._out.print(f"{name}: {line}" if name else line, style="yellow", markup=False, soft_wrap=True)
        others = {one.id: one for one in run.front if one.id not in {run.baseline.id, chosen.id}}
        for name, candidate in others.items():
            scores = candidate.test or candidate.val
            if note := na_note(scores.na_rate, scores.na_kinds):
                self._out.print(f"{name}: {note}", style="yellow", markup=False, soft_wrap=True)

    def interrupted(self) -> bool:
        """Say that what was found is kept; returns whether there is anything yet."""
        self._progress.stop()
        if self._folder is None:
            return False
        folder = shlex.quote(str(self._folder))
        self._err.print(
            f"Interrupted. What was found is saved; go on with: psopt resume {folder}", markup=False, soft_wrap=True
        )
        return True

    def result(self, run: Run) -> None:
        """Print the front, where the files are, and what to do next."""
        chosen = run.pick("knee")
        table = Table(
            title="The front, in percent: chosen on val, reported on test",
            title_justify="left",
            box=SIMPLE_HEAD,
            pad_edge=False,
            show_edge=False,
        )
        table.add_column("prompt", no_wrap=True)
        table.add_column("edits", justify="right", no_wrap=True)
        table.add_column("F1 on test", justify="right", no_wrap=True)
        table.add_column("S on test", justify="right", no_wrap=True)
        table.add_column("C on test", justify="right", no_wrap=True)
        table.add_column("F1/S/C on val", justify="right", no_wrap=True)
        beside = () if run.short.id in {run.baseline.id, *(one.id for one in run.front)} else (run.short,)
        for candidate in (run.baseline, *(one for one in run.front if one.id != run.baseline.id), *beside):
            name = "baseline" if candidate is run.baseline else candidate.id
            knee = candidate.id == chosen.id
            sign = ("*" if knee else "") + ("°" if candidate.id == run.short.id and not knee else "")
            cells = [name + sign, str(len(candidate.edits)), *_on_test(candidate), _on_val(candidate)]
            table.add_row(*cells, style="bold green" if knee else None)
        self._out.print(table)
        self._note_na(run)
        self._out.print()
        self._out.print("* the knee, the best compromise. Test: unseen samples, held-out rephrasings, 95 % intervals.")
        if run.short.id != chosen.id:
            self._out.print(
                "° the shortest prompt that is no worse than the knee by more than one standard error on val."
            )
        folder = shlex.quote(str(run.path))
        self._out.print(f"Report: {run.path / 'report.html'}", markup=False, soft_wrap=True)
        self._out.print("Next:", f"psopt export {folder} --pick knee --format text", markup=False, soft_wrap=True)
        self._out.print(f"      psopt dashboard {folder}", markup=False, soft_wrap=True)


def _na_lines(candidate: Candidate) -> list[str]:
    scores = candidate.test or candidate.val
    return na_lines(scores.to_dict())


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


def _on_test(candidate: Candidate) -> list[str]:
    scores = candidate.test
    if scores is None:
        return ["–"] * 3
    cells = []
    for name in OBJECTIVES:
        cell = f"{100 * getattr(scores, name):.1f}"
        if name in scores.ci:
            low, high = scores.ci[name]
            cell += f" {100 * low:.0f}–{100 * high:.0f}"
        cells.append(cell)
    return cells


def _on_val(candidate: Candidate) -> str:
    return " ".join(f"{100 * getattr(candidate.val, name):.1f}" for name in OBJECTIVES)
