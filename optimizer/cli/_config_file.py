"""`--config FILE`: options in a TOML file, named like the keywords in Python; flags override them."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path  # noqa: TC003  # Typer reads the annotation
from typing import TYPE_CHECKING, Any

import typer  # noqa: TC002  # Typer reads the annotation
from psopt.cli._typer import UsageError
from psopt.errors import nearest
from psopt.settings import BoundOptions, MeasureOptions, PromptOptions, RunOptions, SizeOptions, all_leaves
from psopt.text import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psopt.settings import Leaf

_GROUPS = (RunOptions, SizeOptions, PromptOptions, MeasureOptions, BoundOptions)
_LIMITS = {"above": "exclusiveMinimum", "least": "minimum", "most": "maximum"}


def take_from_file(context: typer.Context, path: Path | None) -> Path | None:
    """Use the options of a file where no flag is given; those of other commands are ignored: one file serves all."""
    if path is None:
        return None
    options: dict[str, Any] = {}
    for option in context.command.params:
        options |= dict.fromkeys(_names(option), option)
    values = {}
    for key, value in _flat(read_toml(path, f"--config {path}"), options):
        if key in options:
            values[str(options[key].name)] = _as_given(value, options[key])
        elif key not in {leaf.key for leaf in _leaves()}:
            raise UsageError(f"--config {path}: there is no option {key!r}{nearest(key, options)}")
    context.default_map = values
    return path


def _leaves() -> Iterator[Leaf]:
    """The options of all commands; what is declared last counts."""
    return chain.from_iterable(map(all_leaves, reversed(_GROUPS)))


def _names(option: Any) -> set[str]:
    """The names of an option in a file: its keyword, or its flag, with - or _ between words."""
    flags = [flag.lstrip("-") for flag in option.opts if flag.startswith("--")]
    return {str(option.name), *flags, *(flag.replace("-", "_") for flag in flags)} - {"config", "help", "help_all"}


def _flat(data: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The options of a file in any table: tables only help people who read it."""
    for key, value in data.items():
        if isinstance(value, dict) and key not in options:
            yield from _flat(value, options)
        else:
            yield key, value


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
    from pydantic import TypeAdapter

    properties: dict[str, Any] = {}
    for leaf in _leaves():
        if leaf.option is not None:
            bounds = {name: getattr(leaf.option, ours) for ours, name in _LIMITS.items()}
            limits = {name: bound for name, bound in bounds.items() if bound is not None}
            schema = TypeAdapter(leaf.hint).json_schema()
            properties[leaf.key] = {**schema, **limits, "description": leaf.option.meaning}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config",
        "description": "options in a file, `psopt COMMAND --config FILE`",
        "type": "object",
        "properties": properties,
        "additionalProperties": {"type": "object"},
    }
