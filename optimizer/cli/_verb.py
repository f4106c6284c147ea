"""Commands for psopt's verbs: a parameter that is a group of settings becomes one option per field.

At its end stand options that only the command line has, and those of the settings that a command takes individually.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import MISSING, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from psopt.cli._config_file import take_from_file
from psopt.cli._help import OF_A_FILE, draw_help
from psopt.cli._typer import SETTINGS, Command, Group
from psopt.cli._writing import NOTICES
from psopt.settings import MODELS, OUTPUT, Leaf, MeasureOptions, Rank, RunOptions, all_leaves, built
from typer.models import OptionInfo

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Changes:
    """Marks a parameter that takes by name what a verb may change in a run; None keeps the old value."""

    verb: str
    groups: tuple[type, ...]  # the settings to search for them
    as_before: str  # the help's text for options that are not given


def flag(
    panel: str, meaning: str, metavar: str | None = None, rank: Rank = "first", flags: str = "", **more: Any
) -> Any:
    """Declare an option in a panel of the help, by default with its parameter's name; `more` is Typer's.

    Those without rank "first" are hidden there.
    """
    box = OF_A_FILE if rank == "config" else panel
    names = [flags] if flags else []
    return typer.Option(*names, help=meaning, metavar=metavar, rich_help_panel=box, hidden=rank != "first", **more)


def single(group: type, key: str) -> Any:
    """The annotation of a parameter that is one option of a group."""
    leaf = next(leaf for leaf in all_leaves(group) if leaf.key == key)
    return _parameter(leaf, leaf.default).annotation


def verb(example: str) -> Callable[[Callable[..., int]], typer.Typer]:
    """Make a function a command with the same name, and its docstring and an example as help."""

    def register(function: Callable[..., int]) -> typer.Typer:
        app = typer.Typer(add_completion=False, context_settings=SETTINGS)
        app.command(cls=Command, epilog=f"Example: {example}")(_flat(function))
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


def _keyword(name: str, default: Any, hint: Any) -> inspect.Parameter:
    for declared in get_args(hint)[1:]:
        if isinstance(declared, OptionInfo) and declared.default is ...:  # where Typer puts flags
            declared.param_decls = (f"--{name.replace('_', '-')}",)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _show_all(context: typer.Context, wanted: bool) -> None:  # Typer's signature
    if wanted:
        typer.echo(draw_help(context.command, context, everything=True))
        raise typer.Exit


def _flat(function: Callable[..., int]) -> Callable[..., int]:
    """The same function with an option for each field of its groups, in a signature for Typer."""
    hints = get_type_hints(function, include_extras=True)
    usual = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
    options: dict[str, list[Leaf]] = {}  # of the parameters that stand for several
    parameters: list[inspect.Parameter] = []
    for name, default in usual.items():
        if changes := next((part for part in get_args(hints[name])[1:] if isinstance(part, Changes)), None):
            leaves = [leaf for group in changes.groups for leaf in all_leaves(group)]
            options[name] = [leaf for leaf in leaves if leaf.option and changes.verb in leaf.option.changed_by]
            parameters += [_changing(leaf, changes) for leaf in options[name]]
        elif is_dataclass(hints[name]):
            options[name] = [leaf for leaf in all_leaves(hints[name]) if leaf.option]
            parameters += [_parameter(leaf, getattr(default, leaf.name, leaf.default)) for leaf in options[name]]
        else:
            parameters.append(_keyword(name, default, hints[name]))
    if options:
        parameters += [_CONFIG, _HELP_ALL]

    @functools.wraps(function)
    def command(**values: Any) -> int:
        arguments = {name: values[name] for name in usual if name in values}
        for name, leaves in options.items():
            read = {leaf.key: _read(values[leaf.key], leaf) for leaf in leaves}
            if is_dataclass(hints[name]):
                given = {key: value for key, value in read.items() if value is not None}
                default = None if usual[name] is inspect.Parameter.empty else usual[name]
                arguments[name] = built(hints[name], given, default)
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
    annotated = flag(
        declared.panel,
        declared.meaning.rstrip(".") if isinstance(shown_default, str) else declared.meaning,
        declared.metavar,
        declared.rank,
        flags or leaf.flags,
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


_FILE = flag(
    "Output",
    "Options in a TOML file, by the names of their flags; flags go before them.",
    "FILE",
    is_eager=True,
    callback=take_from_file,
)
_ALL = flag("Output", "Show every option, and exit.", is_eager=True, callback=_show_all)
_CONFIG = _keyword("config", None, Annotated[Path | None, _FILE])
_HELP_ALL = _keyword("help_all", False, Annotated[bool, _ALL])

RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]
Strategy = single(RunOptions, "strategy")
Seed = single(MeasureOptions, "seed")
CacheDir = single(MeasureOptions, "cache_dir")
Prompt = Annotated[
    str | None,
    flag(
        "Prompt",
        "Your prompt: a text or chat messages with {fields}, a run, its prompts/ID.json, or MODULE:NAME",
        "P",
        show_default="the strategy's",
    ),
]
PromptModel = Annotated[
    str | None, flag("Model", f"{MODELS}.", "M", show_default="the one that --prompt is for; minilm without --prompt")
]
Pick = Annotated[
    str,
    flag(
        "Prompt",
        "recommended, knee, short, f1, sensitivity, consistency, a prompt's id, or 'max F1 with S <= .05' and such.",
        "WHICH",
    ),
]
DryRun = Annotated[
    bool, flag("Limits", "Say how many calls and tokens this would take, and what they cost; send nothing.")
]
Verbose = Annotated[
    bool, flag("Output", "Say all that the report says of the result: racing, sizes, calibration apart, ids.")
]
Json = Annotated[bool, flag("Output", "Print the result as JSON, and nothing else.", flags="--json")]


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """What is printed."""

    as_json: bool = OUTPUT.first("Print the result as JSON, and nothing else.", default=False, flags="--json")
    quiet: bool = OUTPUT.option("Print nothing but errors.", default=False)

    def __post_init__(self) -> None:
        """Show no notices if --quiet is given."""
        for logger in NOTICES:
            logger.disabled = self.quiet

    @property
    def silent(self) -> bool:
        """Whether nothing is printed besides the result."""
        return self.as_json or self.quiet
