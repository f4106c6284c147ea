"""The seam to Typer: the only module that imports what Typer does not export.

Typer 0.26 took Click in under a private name, so that some of what a program needs (usage errors, where a value came
from, groups that load late) has no public name. The version is pinned; where a later one moves things, this file alone
has to follow.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn, cast

import typer
from psopt.cli._help import Entry, draw_help
from psopt.cli._nearest import did_you_mean
from typer._click.core import ParameterSource
from typer._click.exceptions import BadParameter, MissingParameter, NoSuchOption, UsageError
from typer._click.globals import get_current_context
from typer._click.shell_completion import get_completion_class
from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from typer._click.core import Context, Parameter
    from typer._click.formatting import HelpFormatter

__all__ = [
    "BadParameter",
    "Command",
    "Group",
    "Interrupted",
    "MissingParameter",
    "NoSuchOption",
    "UsageError",
    "choices_of",
    "entries",
    "get_command",
    "has_option",
    "is_given",
    "script_for",
    "usage",
]

SETTINGS = {"help_option_names": ["-h", "--help"]}
COMPLETE = "_PSOPT_COMPLETE"  # the variable in which a shell asks


class Interrupted(Exception):  # noqa: N818  # no error
    """Ctrl-C; by itself Typer would end with 130 and without a word."""


class Command(TyperCommand):
    """A command, with its help drawn as psopt's."""

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Draw the help."""
        _draw(self, ctx, formatter)


class _Late(Command):
    """A command of which only name and help are known until it is used."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name, help=summary)
        self._module = module

    def load(self) -> Command:
        """Import it."""
        command = get_command(getattr(importlib.import_module(self._module), self.name or ""))
        command.name = self.name
        return command  # type: ignore[return-value]

    def make_context(
        self, info_name: str | None, args: list[str], parent: Context | None = None, **extra: Any
    ) -> Context:
        """Import it and let it read its arguments; what follows is done by the command itself."""
        return self.load().make_context(info_name, args, parent, **extra)


class Group(TyperGroup):
    """Commands, of which the nearest is suggested where a name is not known."""

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Draw the help."""
        _draw(self, ctx, formatter)

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command that the first word names."""
        command = self.get_command(ctx, args[0])
        if command is None and not ctx.resilient_parsing:  # resilient: a shell asks what could be completed
            raise UsageError(f"No such command {args[0]!r}{did_you_mean(args[0], self.list_commands(ctx))}", ctx)
        return args[0] if command else None, command, args[1:]

    def invoke(self, ctx: Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as signal:
            raise Interrupted from signal

    def _main_shell_completion(
        self,
        ctx_args: MutableMapping[str, Any],
        prog_name: str,
        complete_var: str | None = None,  # noqa: ARG002  # Typer's signature
    ) -> None:
        """Answer a shell that asks what could be completed; else do nothing."""
        instruction = os.environ.get(COMPLETE, "")
        if instruction.endswith("_complete"):
            _complete_as_before(self, instruction.removesuffix("_complete"), ctx_args, prog_name)
        if instruction:
            completion_init()
        super()._main_shell_completion(ctx_args, prog_name, COMPLETE)

    def add_late(self, commands: Mapping[str, tuple[str, str]]) -> None:
        """Add commands by name, with the module that has each and what it does in a sentence."""
        for name, (module, summary) in commands.items():
            self.add_command(_Late(name, module, summary))

    def load(self, name: str) -> Any:
        """Import one of the commands; None where there is none of this name."""
        command = self.commands.get(name)
        return command.load() if isinstance(command, _Late) else command


def _draw(command: Command | Group, ctx: Context, formatter: HelpFormatter) -> None:
    formatter.write(draw_help(usage(command, ctx), command.help or "", entries(command, ctx), command.epilog or ""))


def _complete_as_before(group: Group, shell: str, ctx_args: MutableMapping[str, Any], prog_name: str) -> NoReturn:
    """Answer the scripts that psopt 0.1 printed for bash and zsh, which stand in people's start-up files."""
    completion_init()
    completer = get_completion_class("bash")
    if completer is not None and shell in {"bash", "zsh"}:
        asked = completer(group, ctx_args, prog_name, COMPLETE)
        for item in asked.get_completions(*asked.get_completion_args()):
            typer.echo(f"plain,{item.value}" if shell == "bash" else f"plain\n{item.value}\n{item.help or '_'}")
    sys.exit(0)


def usage(command: Any, ctx: Context) -> str:
    """How a command is called, as ``psopt export [OPTIONS] RUN``."""
    arguments = [parameter for parameter in command.get_params(ctx) if isinstance(parameter, TyperArgument)]
    rest = ["COMMAND [ARGS]..."] if isinstance(command, TyperGroup) else map(_argument_name, arguments)
    return " ".join([ctx.command_path, "[OPTIONS]", *rest])


def entries(command: Any, ctx: Context) -> list[Entry]:
    """What a command's help lists: arguments, options, and a group's commands."""
    listed = [_entry(parameter) for parameter in command.get_params(ctx) if not getattr(parameter, "hidden", False)]
    if isinstance(command, TyperGroup):
        names = command.list_commands(ctx)
        listed = [
            Entry("Commands", name, _first_sentence(command.commands[name].help or "")) for name in names
        ] + listed
    return listed


def _first_sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


def _entry(parameter: Parameter) -> Entry:
    if isinstance(parameter, TyperArgument):
        return Entry("Arguments", _argument_name(parameter), parameter.help or "", _notes(parameter))
    option = cast("TyperOption", parameter)
    if "--help" in option.opts:
        return Entry("Output", "-h,--help", option.help or "")
    name = "/".join([*option.opts, *option.secondary_opts])
    metavar = "" if option.is_flag else option.metavar or "|".join(choices_of(option)) or "TEXT"
    return Entry(option.rich_help_panel or "Output", f"{name} {metavar}".strip(), option.help or "", _notes(option))


def _argument_name(argument: TyperArgument) -> str:
    name = argument.metavar or "|".join(choices_of(argument)) or str(argument.name).upper()
    return name if argument.required else f"[{name}]"


def _notes(parameter: TyperOption | TyperArgument) -> tuple[str, ...]:
    """What is said in brackets after an option's help."""
    notes = []
    if isinstance(parameter.show_default, str):
        notes.append(f"default: {parameter.show_default}")
    elif parameter.show_default and parameter.default not in {None, False, ""}:
        value = parameter.opts[0].lstrip("-") if parameter.default is True else parameter.default
        notes.append(f"default: {value:g}" if isinstance(value, float) else f"default: {value}")
    if parameter.max is not None or (parameter.min or 0) > 1:  # that a count is no less than none goes without saying
        notes.append(described_range(parameter))
    if parameter.required and isinstance(parameter, TyperOption):
        notes.append("required")
    return tuple(notes)


def described_range(parameter: TyperOption | TyperArgument) -> str:
    """Which numbers an option takes, in words; empty for all."""
    if parameter.min is not None and parameter.max is not None:
        return f"{parameter.min} to {parameter.max}"
    return f"{parameter.min} or more" if parameter.min is not None else ""


def choices_of(parameter: Any) -> tuple[str, ...]:
    """The words among which an option's value is; empty for any."""
    return tuple(map(str, parameter.type_descriptor.choices or ()))


def is_given(name: str) -> bool:
    """Whether the user has given a parameter of the command that runs, rather than left its default."""
    source = get_current_context().get_parameter_source(name)
    return source in {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}


def has_option(name: str) -> bool:
    """Whether the command that runs has a parameter of this name."""
    return name in get_current_context().params


def script_for(shell: str) -> str:
    """What lets a shell complete psopt's commands and options."""
    return get_completion_script(prog_name="psopt", complete_var=COMPLETE, shell=shell)
