"""What the help of a command lists, and its layout: one box per panel, names on the left, meanings on the right."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.panel import Panel
    from typer import Context

# Longer lines are hard to read.
_WIDEST = 110
# The longest name is `--format json|text|dspy|openai`; it leaves 44 of 80 columns for the options' meanings.
_LONGEST_NAME = 30
OF_A_FILE = "More, mainly for a --config file"
"""The box of options meant for a configuration file; they also have flags."""
PANELS = (
    "Arguments",
    "Commands",
    "More",
    "Data",
    "Prompt",
    "Model",
    "Rephrasings",
    "Search",
    "Bounds",
    "When to ask a person",
    "Drift",
    "Limits",
    "Server",
    "Output",
    OF_A_FILE,
)


def draw_help(command: Any, context: Any, *, everything: bool = False) -> str:
    """Draw a command's help for the current standard output, with its hidden options if `everything` is asked for."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, file=sys.stdout)
    console.width = min(console.width, _WIDEST)
    panels = by_panel(command, context, everything=everything)
    name_width = min(_LONGEST_NAME, max(len(entry.name) for entry in chain.from_iterable(panels.values())))
    with console.capture() as drawn:
        console.print(Text.assemble("Usage: ", (usage(command, context), "bold")), end="\n\n")
        for paragraph in paragraphs(command.help):
            console.print(Text(paragraph), end="\n\n")
        for panel, listed in panels.items():
            console.print(_panel(panel, listed, name_width))
        if command.epilog:
            console.print()
            console.print(Text(command.epilog), soft_wrap=True)  # a command broken over two lines cannot be copied
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
        flags, space, metavar = entry.name, "", ""
        if flags.startswith("-"):
            flags, space, metavar = flags.partition(" ")
        table.add_row(Text.assemble((flags, "bold cyan"), space, (metavar, "yellow")), meaning)
    return Panel(table, title=title, title_align="left", border_style="dim")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a command's help."""

    panel: str  # the box that contains it
    name: str  # an option with its value, an argument or a command
    meaning: str
    note: str = ""  # in brackets after it: default, range, whether it is required


def by_panel(command: Any, context: Context, *, everything: bool = False) -> dict[str, list[Entry]]:
    """A command's arguments, options and commands by panel; the order of panels is the same for all commands."""
    entries = [
        Entry(inner.rich_help_panel or "Commands", name, paragraphs(inner.help)[0])
        for name, inner in getattr(command, "commands", {}).items()
    ]
    parameters = command.get_params(context)
    entries += [_entry(parameter) for parameter in parameters if everything or not getattr(parameter, "hidden", False)]
    panels: dict[str, list[Entry]] = {panel: [] for panel in PANELS}
    for entry in entries:
        panels[entry.panel].append(entry)
    return {panel: listed for panel, listed in panels.items() if listed}


def paragraphs(text: str) -> list[str]:
    """A docstring's paragraphs, one per line."""
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]


def usage(command: Any, context: Context) -> str:
    """How to call a command, such as ``psopt export [OPTIONS] RUN``."""
    arguments = [_argument_name(parameter) for parameter in command.get_params(context) if _is_argument(parameter)]
    if hasattr(command, "commands"):
        arguments = ["COMMAND [ARGS]..."]
    return " ".join([context.command_path, "[OPTIONS]", *arguments])


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _entry(parameter: Any) -> Entry:
    if _is_argument(parameter):
        return Entry("Arguments", _argument_name(parameter), parameter.help or "", _note(parameter))
    if "--help" in parameter.opts:
        return Entry("Output", "-h,--help", parameter.help)
    name = "/".join([*parameter.opts, *parameter.secondary_opts])
    if not parameter.is_flag:
        name += f" {parameter.metavar or '|'.join(choices_of(parameter)) or 'TEXT'}"
    return Entry(parameter.rich_help_panel or "Output", name, parameter.help or "", _note(parameter))


def _argument_name(argument: Any) -> str:
    name = argument.metavar or "|".join(choices_of(argument)) or str(argument.name).upper()
    return name if argument.required else f"[{name}]"


def _note(parameter: Any) -> str:
    """The note in brackets after an option's help; may be empty."""
    notes = []
    if isinstance(parameter.show_default, str):
        notes.append(f"default: {parameter.show_default}")
    elif parameter.show_default and parameter.default not in {None, False, ""}:
        value = parameter.default
        if value is True:
            value = parameter.opts[0].lstrip("-")
        elif isinstance(value, float):
            value = f"{value:g}"
        notes.append(f"default: {value}")
    if parameter.max is not None or (parameter.min or 0) > 1:  # that a count is not negative goes without saying
        notes.append(described_range(parameter))
    if parameter.required and not _is_argument(parameter):
        notes.append("required")
    return f"[{'; '.join(notes)}]" if notes else ""


def described_range(parameter: Any) -> str:
    """Which numbers an option takes, in words; empty if it takes all."""
    if parameter.max is not None:
        return f"up to {parameter.max}" if parameter.min is None else f"{parameter.min} to {parameter.max}"
    return "" if parameter.min is None else f"{parameter.min} or more"


def choices_of(parameter: Any) -> tuple[str, ...]:
    """The words that an option accepts; empty if it takes any."""
    return tuple(map(str, parameter.type_descriptor.choices or ()))
