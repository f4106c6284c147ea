"""How help looks: a box a panel, names left, what they mean right, all boxes in line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from psopt.cli._entries import by_panel, paragraphs, usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.cli._entries import Entry
    from rich.panel import Panel
    from rich.text import Text

# Lines longer than this are hard to read; the help was never wider.
_WIDEST = 110
# The longest name that there is, `--format json|text|dspy|openai`; of 80 columns 44 are left for what options mean.
_LONGEST_NAME = 30


def draw_help(command: Any, context: Any, *, everything: bool = False) -> str:
    """Draw a command's help for standard output as it is: its width, its signs, its colours.

    Options that are hidden are left out, unless `everything` is asked for.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, file=sys.stdout)
    console.width = min(console.width, _WIDEST)
    panels = by_panel(command, context, everything=everything)
    name_width = min(_LONGEST_NAME, max(len(entry.name) for listed in panels.values() for entry in listed))
    with console.capture() as drawn:
        console.print(Text.assemble("Usage: ", (usage(command, context), "bold")), end="\n\n")
        for paragraph in paragraphs(command.help):
            console.print(Text(paragraph), end="\n\n")
        for panel, listed in panels.items():
            console.print(_panel(panel, listed, name_width))
        if command.epilog:
            console.print()
            console.print(Text(command.epilog), soft_wrap=True)  # a command that is broken in two can't be copied
    return drawn.get()


def _panel(title: str, entries: Sequence[Entry], name_width: int) -> Panel:
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(width=name_width, overflow="fold")
    table.add_column(ratio=1, overflow="fold")
    for entry in entries:
        meaning = Text(entry.meaning)
        if entry.note:
            meaning.append(f" {entry.note}" if entry.meaning else entry.note, style="dim")
        table.add_row(_name(entry.name), meaning)
    return Panel(table, title=title, title_align="left", border_style="dim")


def _name(name: str) -> Text:
    from rich.text import Text

    flags, space, metavar = name.partition(" ") if name.startswith("-") else (name, "", "")
    return Text.assemble((flags, "bold cyan"), space, (metavar, "yellow"))
