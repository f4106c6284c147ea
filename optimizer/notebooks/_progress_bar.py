"""A progress bar where somebody sees it: HTML in a notebook, a line in a terminal, nothing in a pipe."""

from __future__ import annotations

import importlib
import sys
import time
from typing import TYPE_CHECKING, Any

from psopt.notebooks._html import escaped

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST_BETWEEN = 0.2  # seconds between two updates: more would only slow the cell down


class ProgressBar:
    """Shows how far something has come; this one shows nothing, as pipes want it."""

    def show(self, text: str, done: int = 0, total: int | None = None) -> None:
        """Show what is being done, and how much of it is done; without `total` where nobody knows."""

    def close(self, text: str = "") -> None:
        """End the bar; in a notebook the text replaces it, and is kept with the output."""


def progress_bar(wanted: bool | None) -> ProgressBar:  # as the public functions take it: `progress=`
    """Make the bar that fits here: with None it is seen in notebooks and terminals only, with True also in pipes."""
    if wanted is not False and in_notebook():
        return NotebookBar()
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return TerminalBar() if wanted or (wanted is None and is_terminal) else ProgressBar()


def in_notebook() -> bool:
    """Whether this runs in a kernel whose output a notebook shows."""
    ipython: Any = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class NotebookBar(ProgressBar):
    """A bar as HTML that is updated in place: it needs no widgets, and saved notebooks keep the last state."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._shown_at = float("-inf")
        self._display: Any = None

    def show(self, text: str, done: int = 0, total: int | None = None) -> None:
        """See `ProgressBar.show`."""
        if self._clock() - self._shown_at < _LEAST_BETWEEN:
            return
        self._shown_at = self._clock()
        bar = "<progress ></progress>"
        if total:
            bar = f'<progress max="{total}" value="{done}"></progress> {done:,} of {total:,}'
        self._put(f"{bar} {escaped(text)}{self._seconds}")

    def close(self, text: str = "") -> None:
        """See `ProgressBar.close`."""
        if text:
            self._put(f"{escaped(text)}{self._seconds}")
        elif self._display is not None:
            self._put("")

    @property
    def _seconds(self) -> str:
        return f" <small>({self._clock() - self._started:.0f} s)</small>"

    def _put(self, content: str) -> None:
        ipython: Any = importlib.import_module("IPython.display")
        shown = ipython.HTML(f"<div>{content}</div>")
        if self._display is None:
            self._display = ipython.display(shown, display_id=True)
        else:
            self._display.update(shown)


class TerminalBar(ProgressBar):
    """A line on standard error that disappears when it ends."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True, highlight=False)
        columns = (
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[text]}", markup=False),
            TimeRemainingColumn(),
        )
        self._progress = Progress(*columns, console=console, transient=console.is_terminal)
        self._task = self._progress.add_task("", total=None, text="")
        self._progress.start()

    def show(self, text: str, done: int = 0, total: int | None = None) -> None:
        """See `ProgressBar.show`."""
        self._progress.update(self._task, completed=done, total=total, text=text)

    def close(self, text: str = "") -> None:
        """See `ProgressBar.close`."""
        if text:
            self._progress.update(self._task, text=text)
        self._progress.stop()
