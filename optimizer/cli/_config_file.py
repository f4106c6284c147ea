"""`--config FILE`: options in a TOML file, named like the keywords in Python; flags override them."""

from __future__ import annotations

import functools
import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer  # noqa: TC002  # Typer reads the annotation
from psopt.cli._help import choices_of
from psopt.cli._typer import UsageError
from psopt.errors import nearest
from psopt.text import read_toml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_NUMBERS = {int: "integer", float: "number"}
_OTHERS = ["string", "number", "array", "object"]  # of an option whose text is read later, or that may be repeated


def take_from_file(context: typer.Context, path: Path | None) -> Path | None:
    """Use the options of a file where no flag is given; those of other commands are ignored: one file serves all."""
    if path is None:
        return None
    options = {name: (option, is_on) for option in context.command.params for name, is_on in _names(option).items()}
    values = {}
    for key, value in _flat(read_toml(path, f"--config {path}"), options):
        if key in options:
            option, is_on = options[key]
            if wrong := _wrong_type(value, option, is_on=is_on):
                raise UsageError(f"--config {path}: {key!r} {wrong}")
            if str(option.name) in values:
                raise UsageError(f"--config {path}: {key!r} is set twice, under whatever name: leave one out")
            values[str(option.name)] = _as_given(value if is_on else not value, option)
        elif key not in _known():
            raise UsageError(f"--config {path}: there is no option {key!r}{nearest(key, _known())}")
    context.default_map = values
    return path


def _commands() -> Iterator[Any]:
    from psopt.cli._commands import COMMANDS, command_line

    for command in map(command_line().load, COMMANDS):
        if any(option.name == "config" for option in command.params):
            yield command


@functools.cache
def _known() -> frozenset[str]:
    """The names of the options of all commands; only asked for where a file has others than the running command's."""
    return frozenset(name for command in _commands() for option in command.params for name in _names(option))


def _names(option: Any) -> dict[str, bool]:
    """The names of an option in a file, its keyword and its flags, with - or _; False for those that turn it off."""
    if option.name in {"config", "help_all"}:
        return {}
    names = {str(option.name): True}
    for flags, is_on in ((option.opts, True), (option.secondary_opts, False)):
        bare = [flag.lstrip("-") for flag in flags if flag.startswith("--")]
        names |= dict.fromkeys([*bare, *(name.replace("-", "_") for name in bare)], is_on)
    return names


def _flat(data: Mapping[str, Any], options: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The options of a file in any table: tables only help people who read it."""
    for key, value in data.items():
        if isinstance(value, dict) and key not in options and key not in _known():
            yield from _flat(value, options)
        else:
            yield key, value


def _wrong_type(value: Any, option: Any, *, is_on: bool) -> str:
    """Say which type an option takes if TOML's value is of another, and would become a text by chance; or empty."""
    if not is_on and not isinstance(value, bool):
        return "takes true or false"
    if option.name == "model" and not option.multiple and isinstance(value, list) and len(value) > 1:
        return f"takes one model here, not {len(value)}"
    for part in value if isinstance(value, list) else [value]:
        if isinstance(part, bool) and not getattr(option, "is_flag", False):
            return "takes a value, not true or false"
        if isinstance(part, int | float) and option.type_descriptor.annotation is Path:
            return "takes a path, in quotes"
    return ""


def _as_given(value: Any, option: Any) -> Any:
    """A value in the form that the command line would give."""
    if option.multiple:
        if isinstance(value, dict):
            return [f"{name}={part}" for name, part in value.items()]
        return list(map(str, value)) if isinstance(value, list) else [str(value)]
    if isinstance(value, dict):
        return json.dumps(value)
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, bool) else str(value)


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of what ``--config`` takes; options may also be in tables."""
    properties: dict[str, Any] = {}
    for option in chain.from_iterable(command.params for command in _commands()):
        schema = _schema_of(option)
        for name in _names(option):
            entry = properties.setdefault(name, {"anyOf": [], "description": option.help or ""})
            if schema not in entry["anyOf"]:
                entry["anyOf"].append(schema)
    for entry in properties.values():
        if len(entry["anyOf"]) == 1:
            entry |= entry.pop("anyOf")[0]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config",
        "description": "options in a file, `psopt COMMAND --config FILE`",
        "type": "object",
        "properties": properties,
        "additionalProperties": {"type": "object"},
    }


def _schema_of(option: Any) -> dict[str, Any]:
    """The JSON Schema of what one command takes for an option."""
    if getattr(option, "is_flag", False):
        return {"type": "boolean"}
    if option.multiple:
        return {"type": _OTHERS}
    if choices := choices_of(option):
        return {"enum": list(choices)}
    kind = option.type_descriptor.annotation
    if kind is Path:
        return {"type": "string"}
    if kind not in _NUMBERS:
        return {"type": _OTHERS}
    limits = {"minimum": option.min, "maximum": option.max}
    return {"type": _NUMBERS[kind], **{name: limit for name, limit in limits.items() if limit is not None}}
