"""Bars with the remaining time, estimated from recent progress: it grows while nothing arrives."""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from psopt.cli._typer import is_silent
from psopt.errors import BudgetReachedError, say_how_to_go_on
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psopt.models import OnProgress

_WINDOW = 60.0  # seconds of progress that are considered
_WAITING = 10.0  # seconds without progress before the bar shows it


class Pace:
    """The speed of the last minute, up to now: idle time counts.

    >>> pace = Pace()
    >>> pace.seen(0.0, 0), pace.seen(10.0, 50)
    (None, None)
    >>> pace.remaining(10.0, 100), pace.remaining(40.0, 100)
    (10.0, 40.0)
    >>> pace.idle(40.0)
    30.0
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()

    def seen(self, now: float, done: float) -> None:
        """Record how much is done."""
        if self._seen and done < self._seen[-1][1]:  # new work under the same name
            self._seen.clear()
        if not self._seen or done > self._seen[-1][1]:
            self._seen.append((now, done))
        while len(self._seen) > 2 and self._seen[1][0] < now - _WINDOW:
            self._seen.popleft()

    def idle(self, now: float) -> float:
        """Seconds since anything was done."""
        return now - self._seen[-1][0] if self._seen else 0.0

    def remaining(self, now: float, total: float) -> float | None:
        """Seconds until all is done; None if unknown."""
        if len(self._seen) < 2:
            return None
        since, before = self._seen[0]
        _, done = self._seen[-1]
        return (total - done) * (now - since) / (done - before)


class RemainingColumn(ProgressColumn):
    """Shows the remaining time, or how long nothing has arrived.

    If a bar's field `work` is a callable, the done and remaining work that it returns, such as calls, is timed: one of
    the bar's own steps may take a hundred times as long as another.
    """

    max_refresh = 0.5

    def __init__(self) -> None:
        super().__init__()
        self._paces: dict[tuple[int, bool], Pace] = {}

    def render(self, task: Task) -> Text:
        """Render the column for one bar."""
        if task.finished or task.total is None:
            return Text("", style="progress.remaining")
        work: Callable[[], tuple[float, float]] | None = task.fields.get("work")
        now, done, total = task.get_time(), task.completed, task.total
        made, to_do = work() if work else (0, 0)
        if made:  # no calls are made if all answers are cached
            done, total = made, made + to_do
        pace = self._paces.setdefault((task.id, bool(made)), Pace())
        pace.seen(now, done)
        left, idle = pace.remaining(now, total), pace.idle(now)
        text = "-:--:--" if left is None else str(timedelta(seconds=round(left)))
        if idle >= _WAITING and task.completed:
            text += f", nothing for {timedelta(seconds=round(idle))}"
        return Text(text, style="progress.remaining")


@contextmanager
def reading_bar() -> Iterator[OnProgress]:
    """Show how many texts a model has read; yields the callback for `on_progress`. Says how to go on after a limit."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), MofNCompleteColumn(), RemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=is_silent() or not console.is_terminal
    ) as progress:
        task = progress.add_task("texts read", total=None)
        try:
            yield lambda done, total: progress.update(task, completed=done, total=total)
        except BudgetReachedError as error:
            say_how_to_go_on(error, "answers are kept: the same command with a higher limit goes on from there")
            raise
