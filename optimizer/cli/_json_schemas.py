"""JSON Schemas (draft 2020-12) of what `--json` prints, and the page that tells of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from psopt.cli._json_keys import ARRAYS, OUTPUTS, SHAPES
from psopt.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.cli._json_keys import Shape

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_BAR = re.compile(r"\|(?![^(]*\))")  # between types, not within brackets


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of an output or file, by its name in `OUTPUTS`.

    Raises
    ------
    UnknownNameError
        If there is none of this name.
    """
    if name not in OUTPUTS:
        raise UnknownNameError("output", name, OUTPUTS)
    what, shape = OUTPUTS[name]
    entry = _object(shape)
    whole = {"type": "array", "items": entry} if name in ARRAYS else entry
    used = {shape_name: _object(SHAPES[shape_name]) for shape_name in sorted(_shapes_in(shape))}
    return {"$schema": _DRAFT, "title": name, "description": what, **whole, **({"$defs": used} if used else {})}


def page() -> str:
    """Return docs/commands/json.md: each output with its keys."""
    parts = [
        "# JSON",
        "Every command takes `--json` and then prints JSON alone, in UTF-8, or with escapes where standard output is "
        "not UTF-8. Every object has a `schema_version`; keys are added and never renamed. `psopt schema NAME` prints "
        "the JSON Schema (draft 2020-12) of what stands here.",
    ]
    parts += [_section(name, f"{what}.", shape) for name, (what, shape) in OUTPUTS.items() if name != "resume"]
    parts += ["## Shapes", *(_section(name, "", shape, "###") for name, shape in SHAPES.items())]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(name: str, what: str, shape: Shape, mark: str = "##") -> str:
    rows = []
    for key, (types, meaning, is_optional) in shape.items():
        shown = types.replace("|", " or ")
        rows.append(f"| `{key}` | {shown}{', optional' if is_optional else ''} | {meaning} |")
    table = "\n".join(["| key | type | what |", "|---|---|---|", *rows])
    return "\n\n".join(part for part in (f"{mark} {name}", what, table) if part)


def _object(shape: Shape) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {**_type(key.types), "description": key.what} for name, key in shape.items()},
        "required": [name for name, key in shape.items() if not key.is_optional],
        "additionalProperties": False,
    }


def _type(types: str) -> dict[str, Any]:
    """The schema of a type as `Key` says it."""
    choices = _BAR.split(types)
    if len(choices) > 1:
        return {"anyOf": [_type(choice) for choice in choices]}
    if types.endswith("[]"):
        return {"type": "array", "items": _type(types.removesuffix("[]"))}
    if types.endswith("{}"):
        return {"type": "object", "additionalProperties": _type(types.removesuffix("{}"))}
    if types.startswith("("):
        return _type(types[1:-1])
    return {"$ref": f"#/$defs/{types}"} if types in SHAPES else {"type": types}


def _shapes_in(shape: Shape) -> Iterator[str]:
    for key in shape.values():
        for name in re.findall(r"\w+", key.types):
            if name in SHAPES:
                yield name
                yield from _shapes_in(SHAPES[name])
