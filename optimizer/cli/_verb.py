"""Commands for psopt's verbs: a parameter that is a group of settings becomes one option per field.

An option that only one command has is declared in the same way, as its parameter's default.
"""

from __future__ import annotations

import functools
import inspect
from copy import copy
from dataclasses import MISSING, Field, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from psopt.cli._config_file import take_from_file
from psopt.cli._help import OF_A_FILE, draw_help
from psopt.cli._typer import SETTINGS, Command, Group
from psopt.cli._writing import NOTICES
from psopt.settings import (
    LIMITS,
    MODEL,
    MODELS,
    OUTPUT,
    PROMPT,
    Leaf,
    MeasureOptions,
    RunOptions,
    all_leaves,
    built,
    leaf_of,
    like,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Changes:
    """Marks a parameter that takes by name what a verb may change in a run; None keeps the old value."""

    verb: str
    groups: tuple[type, ...]  # the settings to search for them
    as_before: str  # the help's text for options that are not given


def verb(example: str, group: typer.Typer | None = None, name: str | None = None) -> Callable[[Any], typer.Typer]:
    """Make a function a command, and its docstring and an example as help; it has a name only within a group."""

    def register(function: Callable[..., int]) -> typer.Typer:
        app = group or typer.Typer(add_completion=False, context_settings=SETTINGS)
        app.command(name, cls=Command, epilog=f"Example: {example}")(_flat(function))
        return app

    return register


def commands(summary: str) -> typer.Typer:
    """Make a command with subcommands, which shows its help if none is given."""
    app = typer.Typer(cls=Group, add_completion=False, invoke_without_command=True, context_settings=SETTINGS)

    @app.callback(help=summary)
    def alone(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return app


def _show_all(context: typer.Context, wanted: bool) -> None:  # Typer's signature
    if wanted:
        typer.echo(draw_help(context.command, context, everything=True))
        raise typer.Exit


def _flat(function: Callable[..., int]) -> Callable[..., int]:
    """The same function with an option for each field of its groups, in a signature for Typer."""
    hints = get_type_hints(function, include_extras=True)
    usual = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
    several: dict[str, list[Leaf]] = {}  # the options of parameters that stand for several
    parameters: list[inspect.Parameter] = []
    for name, default in usual.items():
        if changes := next((part for part in get_args(hints[name])[1:] if isinstance(part, Changes)), None):
            leaves = [leaf for group in changes.groups for leaf in all_leaves(group)]
            several[name] = [leaf for leaf in leaves if leaf.option and changes.verb in leaf.option.changed_by]
            parameters += [_changing(leaf, changes) for leaf in several[name]]
        elif is_dataclass(hints[name]):
            several[name] = [leaf for leaf in all_leaves(hints[name]) if leaf.option]
            parameters += [_parameter(leaf, getattr(default, leaf.name, leaf.default)) for leaf in several[name]]
        elif isinstance(default, Field):
            leaf = leaf_of(default, hints[name], name)
            parameters.append(_parameter(leaf, leaf.default))
        else:
            parameters.append(_keyword(name, default, hints[name]))
    if several:
        parameters += [_CONFIG, _HELP_ALL]

    @functools.wraps(function)
    def command(**values: Any) -> int:
        arguments = {name: values[name] for name in usual if name in values}
        for name, leaves in several.items():
            read = {leaf.key: _read(values[leaf.key], leaf) for leaf in leaves}
            if is_dataclass(hints[name]):
                set_values = {key: value for key, value in read.items() if value is not None}
                default = None if usual[name] is inspect.Parameter.empty else usual[name]
                arguments[name] = built(hints[name], set_values, default)
            else:
                arguments[name] = read
        if not values.get("dry_run"):
            return function(**arguments)
        from psopt.models.chat import asking_nothing

        with asking_nothing():
            return function(**arguments)

    command.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _keyword(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _changing(leaf: Leaf, changes: Changes) -> inspect.Parameter:
    """An option that is None if it is not given; a switch can also be turned off."""
    flags = leaf.flags
    if leaf.hint is bool and "/" not in flags:
        flags += f"/--no-{leaf.key.replace('_', '-')}"
    return _parameter(leaf, None, flags, changes.as_before)


def _parameter(leaf: Leaf, default: Any, flags: str = "", shown: str | None = None) -> inspect.Parameter:
    """A Typer option for a field: of the command line's type, converted by a callback."""
    declared = leaf.option
    assert declared is not None  # noqa: S101  # for mypy: the caller has checked
    shown_default: str | bool | None = shown or declared.shown_default
    if shown_default is None:
        shown_default = ",".join(default) if default and isinstance(default, tuple) else True
    annotated = typer.Option(
        flags or leaf.flags,
        help=declared.meaning if declared.shown_default or shown_default is True else declared.meaning.rstrip("."),
        metavar=declared.metavar,
        rich_help_panel=OF_A_FILE if declared.rank == "config" else declared.panel,
        hidden=declared.rank != "first",
        show_default=shown_default,
        callback=_checker(leaf),
        min=declared.least,
        max=declared.most,
    )
    is_read = declared.read is not None or leaf.is_tuple
    kind: Any = leaf.types[0]
    if declared.repeats:
        kind = list[str]
    elif is_read:
        kind = str
    elif Path in leaf.types:
        kind = Path
    if default is None or is_read:
        kind, default = kind | None, None
    return _keyword(leaf.key, inspect.Parameter.empty if default is MISSING else default, Annotated[kind, annotated])


def _checker(leaf: Leaf) -> Callable[[Any], Any]:
    """Refuses values that Typer's own bounds accept; Typer turns values into lists, so they are read later."""

    def checked(value: Any) -> Any:
        above = leaf.option and leaf.option.above
        if value is not None and above is not None and not value > above:
            raise typer.BadParameter(f"a number above {above:g} is expected, not {value:g}")
        try:
            _read(value, leaf)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        return value

    return checked


def _read(value: Any, leaf: Leaf) -> Any:
    """A field's value from that on the command line; None if it is not given."""
    if value is None or value == []:
        return None
    if leaf.option and leaf.option.read:
        return leaf.option.read(value)
    return tuple(value) if leaf.is_tuple else value


_FILE = typer.Option(
    "--config",
    help="Options in a TOML file, by the names of their flags; flags go before them.",
    metavar="FILE",
    rich_help_panel="Output",
    is_eager=True,
    callback=take_from_file,
)
_ALL = typer.Option(
    "--help-all", help="Show every option, and exit.", rich_help_panel="Output", is_eager=True, callback=_show_all
)
_CONFIG = _keyword("config", None, Annotated[Path | None, _FILE])
_HELP_ALL = _keyword("help_all", False, Annotated[bool, _ALL])

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]

# Options of several commands; each is the default of its parameter.
CACHE_DIR = like(MeasureOptions, "cache_dir")
OWN_PROMPT = PROMPT.first(
    "Your prompt: a text or chat messages with {fields}, a run, its prompts/ID.json, or MODULE:NAME",
    "P",
    shown_default="the strategy's",
)
MODEL_OF_PROMPT = MODEL.first(f"{MODELS}.", "M", shown_default="the one that --prompt is for; minilm without --prompt")
STRATEGY = like(RunOptions, "strategy")
PICK = PROMPT.first(
    "recommended, knee, short, original, f1, sensitivity, consistency, an id, or 'max F1 with S <= .05' and such.",
    "WHICH",
    default="recommended",
)
DRY_RUN = LIMITS.first(
    "Say how many calls and tokens this would take, and what they cost; send nothing.", default=False
)
VERBOSE = OUTPUT.first(
    "Say all that the report says of the result: racing, sizes, calibration apart, ids.", default=False
)
JSON = OUTPUT.first("Print the result as JSON, and nothing else.", default=False, flags="--json")


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What is printed."""

    as_json: bool = copy(JSON)
    quiet: bool = OUTPUT.option("Print nothing but errors.", default=False)

    def __post_init__(self) -> None:
        """Show no notices if --quiet is given."""
        for logger in NOTICES:
            logger.disabled = self.quiet

    @property
    def silent(self) -> bool:
        """Whether nothing is printed besides the result."""
        return self.as_json or self.quiet
