"""How help looks: a box a panel, names left, what they mean right, all boxes in line."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.panel import Panel
    from rich.text import Text

PANELS = ("Arguments", "Commands", "Data", "Prompt", "Model", "Rephrasings", "Search", "Bounds", "Limits", "Output")
# Lines longer than this are hard to read; the help was never wider.
_WIDEST = 110
# Leaves 46 of 80 columns for what an option means; the one longer name is broken at its slash.
_LONGEST_NAME = 28


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a command's help.

    Attributes
    ----------
    panel : str
        The box that it stands in.
    name : str
        An option with what it takes, an argument or a command.
    meaning : str
    notes : tuple of str
        Said in brackets after it: default, range, whether it is required.
    """

    panel: str
    name: str
    meaning: str
    notes: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The notes in their brackets; empty for none."""
        return f"[{'; '.join(self.notes)}]" if self.notes else ""


def by_panel(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Group entries by their panel; panels come in one order for all commands, entries in their own."""
    panels: dict[str, list[Entry]] = {}
    for entry in entries:
        panels.setdefault(entry.panel, []).append(entry)
    order = {name: place for place, name in enumerate(PANELS)}
    return dict(sorted(panels.items(), key=lambda item: order.get(item[0], len(PANELS))))


def paragraphs(text: str) -> list[str]:
    """A docstring's paragraphs, a line each."""
    return [" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n") if paragraph.strip()]


def draw_help(usage: str, text: str, entries: Sequence[Entry], epilog: str) -> str:
    """Draw a command's help for standard output as it is: its width, its signs, its colours."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, file=sys.stdout)
    console.width = min(console.width, _WIDEST)
    name_width = min(_LONGEST_NAME, max(len(entry.name) for entry in entries))
    with console.capture() as drawn:
        console.print(Text.assemble("Usage: ", (usage, "bold")), end="\n\n")
        for paragraph in paragraphs(text):
            console.print(Text(paragraph), end="\n\n")
        for panel, listed in by_panel(entries).items():
            console.print(_panel(panel, listed, name_width))
        if epilog:
            console.print()
            console.print(Text(epilog), soft_wrap=True)  # a command that is broken in two can't be copied
    return drawn.get()


def _panel(title: str, entries: Sequence[Entry], name_width: int) -> Panel:
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(width=name_width, overflow="fold")
    table.add_column(ratio=1)
    for entry in entries:
        meaning = Text(entry.meaning)
        if entry.note:
            meaning.append(f" {entry.note}" if entry.meaning else entry.note, style="dim")
        table.add_row(_name(entry.name, name_width), meaning)
    return Panel(table, title=title, title_align="left", border_style="dim")


def _name(name: str, width: int) -> Text:
    from rich.text import Text

    flags, space, metavar = name.partition(" ") if name.startswith("-") else (name, "", "")
    if len(name) > width:
        flags = flags.replace("/", "/\n")
    return Text.assemble((flags, "bold cyan"), space, (metavar, "yellow"))
