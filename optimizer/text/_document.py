"""The data of a JSON or YAML file, every value with its place, so that a file can be changed in one place."""

from __future__ import annotations

import functools
import itertools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from psopt.errors import InputError
from psopt.text._files import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterable

_DEEPEST = 1000  # brackets within brackets: Python's own limit of recursion
_MOST_VALUES = 100_000  # a file of 2 MB holds fewer; aliases of aliases can stand for any number
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}]+')
# YAML 1.2's core schema and keys that merge, as promptfoo's js-yaml reads them; PyYAML's own is that of 1.1, to which
# ``no`` is false, 010 is 8 and 12:30 is 750.
_YAML_SCALARS = {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?(?:[0-9]+|0b[01]+|0o[0-7]+|0x[0-9a-fA-F]+)",
    "float": r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    "merge": "<<",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a file."""

    value: Any  # a str, dict of str to Node, list of Node, or another scalar
    # Where it stands
    start: int
    end: int
    style: str = "json"  # ``json``; for YAML's scalars ``|``, ``>``, ``"``, ``'`` or nothing

    @property
    def members(self) -> dict[str, Node]:
        """The members of an object; another value has none."""
        return self.value if isinstance(self.value, dict) else {}

    def plain(self) -> Any:
        """Return the value as plain data."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        return [node.plain() for node in self.value] if isinstance(self.value, list) else self.value


def json_node(text: str, name: str, error: type[InputError] = InputError) -> Node:
    """Read JSON; see `psopt.text.parse_json`."""
    parse_json(text, name, error)
    return _json_node(text, _SPACE.match(text).end())  # type: ignore[union-attr] # matches anything


@functools.lru_cache(maxsize=4)  # a configuration is read for its prompts, its tests and its model
def yaml_node(text: str, name: str, error: type[InputError] = InputError) -> Node:
    """Read YAML; callers must not change the result, which is cached.

    Raises `error` if it is no YAML, is nested too deeply, or repeats itself by aliases; names the line.
    """
    import yaml

    if _depth(text) > _DEEPEST:  # the parser would take minutes to find out if deep recursion is allowed
        raise error(f"{name} is no valid YAML: nested too deeply")
    try:
        document = yaml.compose(text, Loader=_yaml_loader())
        is_sound = _n_values(document, {}) <= _MOST_VALUES
        node = _yaml_node(_yaml_loader()(""), document) if is_sound else None
    except yaml.MarkedYAMLError as wrong:
        mark = wrong.problem_mark or wrong.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise error(f"{name} is no valid YAML: {place}{wrong.problem or wrong.context}") from wrong
    except yaml.YAMLError as wrong:
        raise error(f"{name} is no valid YAML: {' '.join(str(wrong).split())}") from wrong
    except RecursionError as deep:
        raise error(f"{name} is no valid YAML: nested too deeply") from deep
    except ValueError as wrong:
        raise error(f"{name} is no valid YAML: {wrong}") from wrong
    if node is None:
        raise error(f"{name} repeats itself by aliases: it holds over {_MOST_VALUES:,} values")
    return node


@functools.cache
def _yaml_loader() -> Any:
    """PyYAML's loader with the scalars of `_YAML_SCALARS`; its loader in C crashes on deeply nested blocks."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        yaml_implicit_resolvers: ClassVar[dict[str | None, Any]] = {}

    def whole_number(loader: Any, node: Any) -> int:
        digits = loader.construct_scalar(node)
        return int(digits, 0 if re.match("[-+]?0[box]", digits) else 10)

    for name, pattern in _YAML_SCALARS.items():
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", re.compile(rf"(?:{pattern})\Z"), None)
    Loader.add_constructor("tag:yaml.org,2002:int", whole_number)
    return Loader


def _depth(text: str) -> int:
    """How deeply brackets are nested, including those in strings: no file by a person has a thousand either way."""
    return max(itertools.accumulate(_STEPS[sign] for sign in text if sign in _STEPS), default=0)


def _n_values(node: Any, counted: dict[int, int]) -> int:
    """How many values a YAML node holds with every alias expanded; each node is visited once."""
    if id(node) not in counted:
        counted[id(node)] = 1  # for a node that contains itself
        parts: Iterable[Any] = ()
        match getattr(node, "id", ""):
            case "sequence":
                parts = node.value
            case "mapping":
                parts = itertools.chain.from_iterable(node.value)
        counted[id(node)] += sum(_n_values(part, counted) for part in parts)
    return counted[id(node)]


def _json_node(text: str, position: int) -> Node:
    match text[position]:
        case "[":
            items, end = _json_items(text, position + 1, "]")
            return Node(items, position, end)
        case "{":
            members, end = _json_items(text, position + 1, "}")
            return Node({key.value: item for key, item in zip(members[::2], members[1::2], strict=True)}, position, end)
    start, end = _SCALAR.match(text, position).span()  # type: ignore[union-attr] # json.loads has read the text before
    return Node(json.loads(text[start:end]), start, end)


def _json_items(text: str, position: int, closing: str) -> tuple[list[Node], int]:
    """The values up to a closing bracket, including names of members."""
    items: list[Node] = []
    while True:
        while text[position] in " \t\r\n,:":
            position += 1
        if text[position] == closing:
            return items, position + 1
        items.append(_json_node(text, position))
        position = items[-1].end


def _yaml_node(loader: Any, node: Any) -> Node:
    import yaml

    if node is None:
        return Node(None, 0, 0, "yaml")
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, yaml.MappingNode):
        loader.flatten_mapping(node)
        members = {str(loader.construct_object(key, deep=True)): _yaml_node(loader, item) for key, item in node.value}
        return Node(members, start, end, "yaml")
    if isinstance(node, yaml.SequenceNode):
        return Node([_yaml_node(loader, item) for item in node.value], start, end, "yaml")
    return Node(loader.construct_object(node, deep=True), start, end, node.style or "")
