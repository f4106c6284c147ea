"""The response format that a user sends along with a prompt: a JSON schema, in the forms that users have it in."""

from __future__ import annotations

import functools
import json
from typing import Any

from psopt.errors import InputError

_NAME = "answer"
_FORMS = 'give a JSON schema, {"name": .., "schema": ..} or {"type": "json_schema", "json_schema": {"schema": ..}}'
# Of JSON Schema 2020-12: what says anything of a value, where schemas stand within one, and what a type may be.
_SAYING = frozenset({"type", "properties", "items", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "required"})
_SCHEMA = ("items", "additionalProperties", "not", "contains", "if", "then", "else")
_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions")
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


@functools.lru_cache(maxsize=64)
def read_response_format(text: str) -> str:
    """Read a response format as a user has it, and return it as requests hold it, as JSON text.

    Raises InputError if it is no JSON, or no schema, in one line.

    Parameters
    ----------
    text : str
        A JSON schema, alone, as ``{"name": .., "schema": ..}``, or in OpenAI's ``{"type": "json_schema", ..}``.

    Examples
    --------
    >>> read_response_format('{"type": "object", "properties": {"team": {"type": "string"}}}')[:58]
    '{"type": "json_schema", "json_schema": {"name": "answer", '
    """
    try:
        data = json.loads(text)
        form = _in_full(data)
        _check(form["json_schema"]["schema"], "")
    except (ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the response format is no JSON: {error}; {_FORMS}") from error
    return json.dumps(form, ensure_ascii=False)


def _in_full(data: Any) -> dict[str, Any]:
    """The response format as OpenAI has it, whatever of it was given."""
    if not isinstance(data, dict):
        raise InputError(f"the response format is no JSON schema but {_shown(data)}; {_FORMS}")
    if data.get("type") == "json_schema":
        inner = data.get("json_schema")
    elif "schema" in data:
        inner = data
    else:
        inner = {"name": _NAME, "schema": data}
    if not isinstance(inner, dict) or not isinstance(inner.get("schema"), dict):
        raise InputError(f"the response format holds no schema: {_FORMS}")
    named = inner if isinstance(inner.get("name"), str) and inner["name"] else {"name": _NAME, **inner}
    if not _SAYING & set(named["schema"]):
        shown = _shown(named["schema"])
        raise InputError(f"the response format is no JSON schema: {shown} says neither type nor properties; {_FORMS}")
    return {"type": "json_schema", "json_schema": named}


def _check(schema: Any, place: str) -> None:
    """Make sure that a schema, and all within it, is one."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise _wrong(place, f"{_shown(schema)} is no schema")
    types = schema.get("type", [])
    for name in types if isinstance(types, list) else [types]:
        if not isinstance(name, str) or name not in _TYPES:
            raise _wrong(f"{place}.type", f"{_shown(name)} is no type: {', '.join(sorted(_TYPES))}")
    for keyword, holds in {"required": list, "enum": list, **dict.fromkeys(_SCHEMAS, list)}.items():
        if keyword in schema and not (
            isinstance(schema[keyword], holds) and (schema[keyword] or keyword == "required")
        ):
            raise _wrong(f"{place}.{keyword}", f"{_shown(schema[keyword])} is no list of values")
    for keyword in _SCHEMA:
        if keyword in schema:
            _check(schema[keyword], f"{place}.{keyword}")
    for keyword in _SCHEMAS:
        for index, inner in enumerate(schema.get(keyword, ())):
            _check(inner, f"{place}.{keyword}[{index}]")
    for keyword in _NAMED_SCHEMAS:
        inner_schemas = schema.get(keyword, {})
        if not isinstance(inner_schemas, dict):
            raise _wrong(f"{place}.{keyword}", f"{_shown(inner_schemas)} is no object of schemas")
        for name, inner in inner_schemas.items():
            _check(inner, f"{place}.{keyword}.{name}")


def _wrong(place: str, why: str) -> InputError:
    return InputError(f"the response format is no JSON schema: at {place.lstrip('.') or 'its top'}, {why}")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:38]}.."
