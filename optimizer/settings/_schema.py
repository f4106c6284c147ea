"""The JSON Schema of a configuration file, for editors."""

from __future__ import annotations

from typing import Any

from psopt.settings._bounds import BoundOptions
from psopt.settings._option import Leaf, all_leaves
from psopt.settings._prompt import PromptOptions
from psopt.settings._run import MeasureOptions, RunOptions, SizeOptions

ALL = (RunOptions, SizeOptions, PromptOptions, MeasureOptions, BoundOptions)
"""The groups of settings that commands have."""
_BOUNDS = {"above": "exclusiveMinimum", "least": "minimum", "most": "maximum"}


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of what ``--config`` takes; options may stand in tables, too."""
    told: dict[str, Any] = {}
    for group in ALL:
        told = {leaf.key: _schema_of(leaf) for leaf in all_leaves(group) if leaf.option} | told
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config",
        "description": "options in a file, `psopt COMMAND --config FILE`",
        "type": "object",
        "properties": told,
        "additionalProperties": {"type": "object"},
    }


def _schema_of(leaf: Leaf) -> dict[str, Any]:
    from pydantic import TypeAdapter

    declared = leaf.option
    bounds = {name: getattr(declared, ours) for ours, name in _BOUNDS.items()}
    described = {"description": declared.meaning if declared else ""}
    given = {name: bound for name, bound in bounds.items() if bound is not None}
    return {**TypeAdapter(leaf.hint).json_schema(), **given, **described}
