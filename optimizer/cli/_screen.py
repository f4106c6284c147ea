"""The terminal during a run: the current phase, a progress bar, the cost, and how much more to expect."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from psopt.answers import AnswerType
from psopt.cli._plan_lines import UNKNOWN_MINUTES, rounded
from psopt.cli._tables import plain_console
from psopt.evaluation import OBJECTIVES, measure_names, na_note, objective_values
from psopt.models.chat import Usage
from psopt.runs.planning import time_line
from psopt.search import Candidate, Observer
from psopt.text import shell_line
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Task as Bar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from psopt.runs import CostEstimate
    from psopt.runs.planning import Plan
    from psopt.search.racing import StoppedCandidate
    from psopt.tasks import Task
    from rich.text import Text


_ENOUGH = 50  # calls needed to time answers; fewer are mostly the first ones, which are sent one by one


class _RemainingColumn(TimeRemainingColumn):
    """The remaining time: of a search by its calls, where they are counted, since trials differ a hundredfold."""

    def render(self, task: Bar) -> Text:
        calls: Bar | None = task.fields.get("calls")
        is_counted = calls is not None and 0 < calls.completed < (calls.total or 0)
        return super().render(calls if calls and is_counted else task)


class Screen(Observer):
    """Shows the progress of a run, or of a worker in one, on standard error: standard output is for its result."""

    def __init__(self, *, quiet: bool = False, is_worker: bool = False) -> None:
        self._is_worker = is_worker
        self._err = plain_console(stderr=True, quiet=quiet)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=8),
            MofNCompleteColumn(),
            TextColumn("{task.fields[best]}"),
            TimeElapsedColumn(),
            _RemainingColumn(),
            console=self._err,
            transient=True,
            disable=quiet or not self._err.is_terminal,
        )
        self._calls = self._progress.add_task("calls", total=None, visible=False, best="")
        self._trials = self._progress.add_task("trials", total=None, best="", calls=self._progress.tasks[0])
        self._reading = self._progress.add_task("texts read", total=None, visible=False, best="")
        self._folder: Path | None = None
        self._best: dict[str, float] = {}  # of each objective
        self._expectations: Sequence[str] = ()
        self._calls_expected = 0
        self._begun, self._made_before = 0.0, 0  # when the search began, and the calls made by then
        self._quality = "F1"

    def expect(self, estimate: CostEstimate, lines: Sequence[str], plan: Plan | None) -> None:
        """Say how large the run will be, and as it starts what it is expected to take."""
        if plan:
            self._say(f"{plan.line[0].upper()}{plan.line[1:]}", in_whole=False)
            for warning in plan.warnings:
                self._say(f"Note: {warning}", style="yellow", in_whole=False)
        self._calls_expected, self._expectations = estimate.expected.calls, lines
        self._progress.update(self._calls, total=estimate.expected.calls)

    @property
    def _usage(self) -> Usage:
        """What was asked so far; nothing before the search begins."""
        return self.budget.usage if self.budget else Usage()

    @property
    def _n_made(self) -> int:
        """The calls since the search began: a resumed one has made others before."""
        return self._usage.made - self._made_before

    def __enter__(self) -> Screen:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def started(self, task: Task, folder: Path) -> None:
        """Say which task the run is for and where it is written."""
        self._folder = folder
        if task.info.note:
            self._say(f"Note: {task.info.note}", style="yellow")
        sizes = f"{len(task.train)} train, {len(task.val)} val, {len(task.test)} test"
        if task.labels:
            sizes = f"{len(task.labels)} labels, {sizes}"
        self._say(f"{task.name} ({task.info.source}): {sizes}")
        answers = AnswerType.of(task)
        self._quality = answers.quality_name
        if answers.note:
            self._say(answers.note, in_whole=False)
        if task.info.test_is_drawn:
            self._say("The test samples are set aside by chance: nothing is chosen by them, and they decide at the end")
        if not self._is_worker:
            self._say(f"Run directory: {folder}")
        for line in self._expectations:
            self._say(f"Expected: {line}", in_whole=False)
        self._begun, self._made_before = monotonic(), self._usage.made

    def phase(self, text: str) -> None:
        """Show what is being done."""
        self._progress.update(self._reading, visible=False)
        self._say(f"· {text}", style="dim", in_whole=False)

    def answers(self, done: int, total: int) -> None:
        """Show the progress of a long reading."""
        self._progress.update(self._reading, completed=done, total=total, visible=True)
        self._progress.update(self._calls, completed=self._n_made)

    def trial(self, candidate: Candidate, n_done: int, n_total: int) -> None:
        """Advance the bar, with the best value of each objective so far."""
        if not candidate.edits and (note := na_note(candidate.val.na_rate, candidate.val.na_kinds)):
            self._say(f"Note: {note}", style="yellow")
        self._count_best(candidate)
        self._move_on(n_done, n_total)
        self._say_minutes()

    def stopped(self, candidate: StoppedCandidate, n_done: int, n_total: int) -> None:
        """Advance the bar; a held candidate counts by its estimates."""
        if candidate.is_held:
            self._count_best(candidate)
        self._move_on(n_done, n_total)

    def _say_minutes(self) -> None:
        """Say once how long the rest takes, if that was unknown before the first answers."""
        if UNKNOWN_MINUTES not in self._expectations or self._n_made < _ENOUGH:
            return
        self._expectations = ()
        per_minute = 60 * self._n_made / (monotonic() - self._begun)
        self._say(f"The rest takes {time_line(max(0, self._calls_expected - self._n_made), per_minute)}")

    def _move_on(self, n_done: int, n_total: int) -> None:
        self._progress.update(self._calls, completed=self._n_made)
        self._progress.update(self._reading, visible=False)
        self._progress.update(self._trials, completed=n_done, total=n_total, best=self._in_short())

    def _in_short(self) -> str:
        """The best of each objective, and the money with its limit or the tokens: as much as 80 columns hold."""
        names, usage = measure_names(self._quality), self._usage
        parts = [f"{names[objective]} {value:.3f}" for objective, value in self._best.items()]
        if usage.cost:
            limit = self.budget and self.budget.max_cost
            parts.append(f"{usage.cost:.2g} USD" if limit is None else f"{usage.cost:.2g} of {limit:g} USD")
        elif usage.tokens:
            parts.append(f"{rounded(usage.tokens)} tokens")
        return " ".join(parts)

    def _say(self, line: str, style: str = "", *, in_whole: bool = True) -> None:
        """Print a line: unbroken in a pipe or for a path to copy, otherwise wrapped between words in a terminal."""
        self._err.print(line, style=style, soft_wrap=in_whole or not self._err.is_terminal)

    def _count_best(self, candidate: Candidate | StoppedCandidate) -> None:
        for objective, value in objective_values(candidate.val).items():
            better = max if OBJECTIVES[objective] == "maximize" else min
            self._best[objective] = better(self._best.get(objective, value), value)

    def interrupted(self) -> bool:
        """Say that results so far are kept; returns whether there are any."""
        self._progress.stop()
        if self._folder is None:
            return False
        folder = shell_line([self._folder])
        self._say(f"Interrupted. What was found is saved; resume with: psopt resume {folder}")
        return True
