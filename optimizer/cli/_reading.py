"""A progress bar for one long reading of texts by a model."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.models import OnProgress


@contextmanager
def reading_bar(*, quiet: bool) -> Iterator[OnProgress]:
    """Show how many texts a model has read; yields what to give as `on_progress`."""
    from psopt.cli._remaining import RemainingColumn
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), MofNCompleteColumn(), RemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as progress:
        task = progress.add_task("texts read", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
