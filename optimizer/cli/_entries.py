"""What the help of a command lists, for the screen and for the pages in docs/commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer import Context

OF_A_FILE = "In a --config file"
"""The box of options that are for a configuration file, and have flags for those who know them."""
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


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a command's help."""

    panel: str  # the box that it stands in
    name: str  # an option with what it takes, an argument or a command
    meaning: str
    notes: tuple[str, ...] = ()  # said in brackets after it: default, range, whether it is required

    @property
    def note(self) -> str:
        """The notes in their brackets; empty for none."""
        return f"[{'; '.join(self.notes)}]" if self.notes else ""


def by_panel(command: Any, context: Context, *, everything: bool = False) -> dict[str, list[Entry]]:
    """A command's arguments, options and commands by panel; panels come in one order for all commands.

    Options that are hidden are left out, unless `everything` is asked for.
    """
    panels: dict[str, list[Entry]] = {name: [] for name in PANELS}
    for entry in _entries(command, context, everything=everything):
        panels[entry.panel].append(entry)
    return {name: listed for name, listed in panels.items() if listed}


def paragraphs(text: str) -> list[str]:
    """A docstring's paragraphs, one per line."""
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()]


def usage(command: Any, context: Context) -> str:
    """How a command is called, as ``psopt export [OPTIONS] RUN``."""
    rest = [_argument_name(parameter) for parameter in command.get_params(context) if _is_argument(parameter)]
    if hasattr(command, "commands"):
        rest = ["COMMAND [ARGS]..."]
    return " ".join([context.command_path, "[OPTIONS]", *rest])


def _entries(command: Any, context: Context, *, everything: bool) -> Iterator[Entry]:
    for name, other in getattr(command, "commands", {}).items():
        yield Entry(other.rich_help_panel or "Commands", name, paragraphs(other.help)[0])
    for parameter in command.get_params(context):
        if everything or not getattr(parameter, "hidden", False):
            yield _entry(parameter)


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _entry(parameter: Any) -> Entry:
    if _is_argument(parameter):
        return Entry("Arguments", _argument_name(parameter), parameter.help or "", _notes(parameter))
    if "--help" in parameter.opts:
        return Entry("Output", "-h,--help", parameter.help)
    name = "/".join([*parameter.opts, *parameter.secondary_opts])
    metavar = "" if parameter.is_flag else parameter.metavar or "|".join(choices_of(parameter)) or "TEXT"
    return Entry(
        parameter.rich_help_panel or "Output", f"{name} {metavar}".strip(), parameter.help or "", _notes(parameter)
    )


def _argument_name(argument: Any) -> str:
    name = argument.metavar or "|".join(choices_of(argument)) or str(argument.name).upper()
    return name if argument.required else f"[{name}]"


def _notes(parameter: Any) -> tuple[str, ...]:
    """What is said in brackets after an option's help."""
    notes = []
    if isinstance(parameter.show_default, str):
        notes.append(f"default: {parameter.show_default}")
    elif parameter.show_default and parameter.default not in {None, False, ""}:
        value = parameter.opts[0].lstrip("-") if parameter.default is True else parameter.default
        notes.append(f"default: {value:g}" if isinstance(value, float) else f"default: {value}")
    if parameter.max is not None or (parameter.min or 0) > 1:  # that a count is no less than none goes without saying
        notes.append(described_range(parameter))
    if parameter.required and not _is_argument(parameter):
        notes.append("required")
    return tuple(notes)


def described_range(parameter: Any) -> str:
    """Which numbers an option takes, in words; empty for all."""
    if parameter.max is not None:
        return f"up to {parameter.max}" if parameter.min is None else f"{parameter.min} to {parameter.max}"
    return f"{parameter.min} or more" if parameter.min is not None else ""


def choices_of(parameter: Any) -> tuple[str, ...]:
    """The words among which an option's value is; empty for any."""
    return tuple(map(str, parameter.type_descriptor.choices or ()))
