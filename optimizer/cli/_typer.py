"""The interface to Typer: the only module that imports what Typer does not export.

Typer 0.26 includes Click under a private name, so some things that a program needs (usage errors, the source of a
value, groups that load late) have no public name. The version is pinned; if a later one moves things, only this file
has to change.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from psopt.cli._help import draw_help
from psopt.errors import nearest
from typer._click.core import Command as ClickCommand
from typer._click.core import Context, ParameterSource
from typer._click.exceptions import BadParameter, NoSuchOption, UsageError
from typer._click.globals import get_current_context
from typer._completion_classes import completion_init
from typer._completion_shared import get_completion_script
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, MutableMapping

    from typer._click.formatting import HelpFormatter

__all__ = ["BadParameter", "NoSuchOption", "UsageError", "get_command"]  # Typer's own, for the other modules

SETTINGS = {"help_option_names": ["-h", "--help"]}
_HOMES = {  # of commands that share a module
    **dict.fromkeys(("resume", "worker", "migrate"), "optimize"),
    **dict.fromkeys(("data", "models", "doctor"), "names"),
    **dict.fromkeys(("skill", "completion"), "schema"),
    "compare": "diagnose",
    "dashboard": "report",
    "select": "export",
    "serve": "classify",
}
COMPLETE = "_PSOPT_COMPLETE"  # the variable that shells set to request completion


class Interrupted(Exception):  # noqa: N818  # not an error
    """Ctrl-C; Typer itself would silently exit with 130."""


class _DrawnHelp(ClickCommand):
    """A command or a group whose help psopt draws."""

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        formatter.write(draw_help(self, ctx))

    def get_help_option(self, ctx: Context) -> TyperOption | None:
        """Make --help a flag that is off: otherwise Typer imports pydantic (.1 s) to determine that."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option


class Command(_DrawnHelp, TyperCommand):
    """A command whose help psopt draws."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Refuse a second --model where one is taken: the first would be ignored without a word."""
        takes_one = any("--model" in option.opts and not getattr(option, "multiple", False) for option in self.params)
        if takes_one and sum(word.partition("=")[0] == "--model" for word in args) > 1:
            raise UsageError("--model is given more than once, and this command takes one model", ctx)
        return super().parse_args(ctx, args)


class _Late(Command):
    """A command with only a name and a help text until it is used."""

    def load(self) -> Command:
        name = str(self.name)
        command = get_command(getattr(importlib.import_module(f"psopt.cli._{_HOMES.get(name, name)}"), name))
        command.name = name
        return command  # type: ignore[return-value]

    def make_context(
        self, info_name: str | None, args: list[str], parent: Context | None = None, **extra: Any
    ) -> Context:
        """Import the command and let it read its arguments; it does the rest itself."""
        return self.load().make_context(info_name, args, parent, **extra)


class Group(_DrawnHelp, TyperGroup):
    """Commands; for an unknown name it suggests the nearest."""

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command that the first word names."""
        command = self.get_command(ctx, args[0])
        if command is None and not ctx.resilient_parsing:  # resilient: a shell requests completions
            raise UsageError(f"No such command {args[0]!r}{nearest(args[0], self.list_commands(ctx))}", ctx)
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
        """Answer a shell that requests completions; otherwise do nothing."""
        instruction = os.environ.get(COMPLETE, "")
        if instruction:
            completion_init()
        super()._main_shell_completion(ctx_args, prog_name, COMPLETE)

    def add_late(self, commands: Mapping[str, str], first: Container[str]) -> None:
        """Add commands by name, each with a one-sentence summary; those in `first` on top."""
        for name, summary in commands.items():
            self.add_command(_Late(name, help=summary, rich_help_panel=None if name in first else "More"))

    def load(self, name: str) -> Any:
        """Import one of the commands; None if there is none with this name."""
        command = self.commands.get(name)
        return command.load() if isinstance(command, _Late) else command


def is_given(name: str) -> bool:
    """Whether the user has set a parameter of the running command; False if it has its default or does not exist."""
    source = get_current_context().get_parameter_source(name)
    return source in {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP}


def is_quiet() -> bool:
    """Whether the running command was given --quiet."""
    return bool(get_current_context().params.get("quiet"))


def is_silent() -> bool:
    """Whether only the result is printed: the running command was given --json or --quiet."""
    return is_quiet() or bool(get_current_context().params.get("as_json"))


def script_for(shell: str) -> str:
    """The script with which a shell completes psopt's commands and options."""
    return get_completion_script(prog_name="psopt", complete_var=COMPLETE, shell=shell)
