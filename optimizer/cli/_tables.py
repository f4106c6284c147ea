"""Tables on standard output: as wide as needed in a pipe, and without cut cells in a terminal of any width."""

from __future__ import annotations

import io
import os
import re
from itertools import chain
from typing import TYPE_CHECKING

from psopt.cli._writing import wrapped
from psopt.text import percent
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.evaluation import Scores

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ENDLESS = 100_000  # columns of an output without a width
_LONGEST_LINE = 100  # columns of a sentence: longer lines are hard to read
_CUT = "…"  # rich's mark where it cuts a cell
_LONGEST_WORD = 12  # letters: longer ones (ids, models) may be broken in two


class _PlainConsole(Console):
    """Removes control characters from the output: a text or a prompt may hold any, and terminals act on them."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(without_controls(segment.text), segment.style)


def without_controls(text: str) -> str:
    """A text without control characters, except line breaks and tabs."""
    return _CONTROLS.sub("", text)


def plain_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Return a console that prints texts as they are, but for control characters."""
    return _PlainConsole(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)


def result_console() -> Console:
    """Return the console of results; in a pipe without a given width, a row is one line."""
    console = plain_console()
    if not is_wrapped(console):
        console.width = _ENDLESS
    return console


def is_wrapped(console: Console) -> bool:
    """Whether lines are wrapped at the screen's width: readers of a pipe, such as grep, want whole ones."""
    return console.is_terminal or "COLUMNS" in os.environ


def new_table(
    title: str = "", *, texts: Sequence[str] = (), numbers: Sequence[str] = (), is_narrow: bool = True
) -> Table:
    """An empty table with columns of texts, then of numbers; a narrow one has no border and little padding."""
    table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD)
    if is_narrow:
        table.padding, table.pad_edge, table.show_edge = (0, 1, 0, 0), False, False
    add_texts(table, *texts)
    add_numbers(table, *numbers)
    return table


def add_texts(table: Table, *names: str) -> None:
    """Add columns of texts, where long texts wrap."""
    for name in names:
        table.add_column(name, overflow="fold")


def add_numbers(table: Table, *names: str) -> None:
    """Add columns of numbers, which never wrap."""
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)


def with_interval(scores: Scores, name: str) -> str:
    """A measure in percent with its 95 % interval, if it has one."""
    value = percent(getattr(scores, name))
    low, high = scores.ci.get(name, (None, None))
    if low is None or high is None:
        return value
    return f"{value} {100 * low:.0f}–{100 * high:.0f}"


def in_percent(scores: Scores) -> dict[str, str]:
    """The defined measures, by what screens call them, in percent and each with its interval."""
    from psopt.evaluation import measure_names, objective_values  # heavy, and help needs none

    names = measure_names(scores.quality_name)
    return {names[name]: with_interval(scores, name) for name in objective_values(scores)}


def print_sentences(console: Console, sentences: Iterable[str], style: str | None = None) -> None:
    """Print each sentence in lines that fit the terminal and are not too long to read; in a pipe in one line."""
    if is_wrapped(console):
        sentences = wrapped(sentences, min(console.width, _LONGEST_LINE))
    for line in sentences:
        console.print(line, style=style, soft_wrap=True)


def print_table(console: Console, table: Table) -> None:
    """Print a table; if cells would be cut off, print its rows one below the other, with one line per cell."""
    if _fits(console, table):
        console.print(table)
    else:
        _print_rows(console, table)


def _fits(console: Console, table: Table) -> bool:
    """Whether a table fits its console, with no cell cut off and no short word broken in two."""
    file = io.StringIO()
    Console(file=file, width=console.width, highlight=False, markup=False, emoji=False).print(table, crop=False)
    drawn = file.getvalue()
    cells = chain.from_iterable((column.header, *column.cells) for column in table.columns)
    text = " ".join(map(str, cells))
    is_cut = drawn.count(_CUT) > text.count(_CUT)
    is_broken = any(word not in drawn for word in text.split() if len(word) <= _LONGEST_WORD)
    return not (is_cut or is_broken or any(cell_len(line) > console.width for line in drawn.splitlines()))


def _print_rows(console: Console, table: Table) -> None:
    if table.title:
        console.print(table.title, style="italic")
    names = [str(column.header) for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        (_, first), *further_cells = zip(names, map(str, row), strict=True)
        console.print(first, style="bold", overflow="fold")
        for name, cell in further_cells:
            console.print(f"  {name}: {' '.join(cell.split())}", overflow="fold")
