"""Files from users: read completely, or refused in one line that says what is wrong, where, and how to fix it.

The data of a JSON or YAML file can be read with the place of every value, so that a file can be changed in one place.
"""

from __future__ import annotations

import codecs
import functools
import itertools
import json
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from psopt.errors import InputError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pydantic import TypeAdapter

T = TypeVar("T")
_WITH_BACKSLASH = re.compile(r'".*\\')

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


def as_path(path: Any, name: str) -> Path:
    """The path that an argument of this name gives, as a text too; raises InputError for anything else."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"{name} must be a path, not {path!r}")
    return Path(path)


def read_text(path: Path, name: str = "", error: type[InputError] = InputError) -> str:
    """Read a UTF-8 file, or raise `error`; messages call it by `name`, such as ``--config psopt.toml``, or its path."""
    return as_text(read_bytes(path, name, error), name or str(path), error)


def read_bytes(path: Path, name: str = "", error: type[InputError] = InputError) -> bytes:
    """Read a whole file; see `read_text`."""
    name = name or str(path)
    try:
        return path.read_bytes()
    except FileNotFoundError as missing:
        raise error(f"{name} can't be read: no such file{nearest_sibling(path)}") from missing
    except OSError as refused:
        raise error(f"{name} can't be read: {refused.strerror}") from refused


def nearest_sibling(path: Path) -> str:
    """Return ``; did you mean 'x'?`` for the file beside a missing one whose name is nearest, or nothing."""
    if not path.parent.is_dir():
        return ""
    return nearest(path.name, [sibling.name for sibling in path.parent.iterdir()])


def as_text(data: bytes, name: str, error: type[InputError] = InputError) -> str:
    """Return UTF-8 bytes as text; see `read_text`."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise error(f"{name} is UTF-16; convert the file to UTF-8, for example with: iconv -f utf-16 -t utf-8")
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise error(f"{name}, line {line}: holds a NUL byte; remove it, or save the file as plain UTF-8 text")
    try:
        return data.decode()
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        fix = "convert the file, for example with: iconv -f cp1252 -t utf-8"
        raise error(f"{name}, line {line}: byte 0x{data[wrong.start]:02x} is not UTF-8; {fix}") from wrong


def read_json(path: Path, name: str = "") -> Any:
    """Read a JSON file; see `read_text`."""
    return parse_json(read_text(path, name), name or str(path))


def parse_json(
    text: str,
    name: str,
    error: type[InputError] = InputError,
    object_hook: Callable[[dict[str, Any]], Any] | None = None,
) -> Any:
    """Return the data in a JSON text, with each object as the hook makes it; see `read_text`."""
    try:
        return json.loads(text, object_hook=object_hook)
    except json.JSONDecodeError as wrong:
        line = f"line {wrong.lineno}, " if "\n" in text else ""
        raise error(f"{name} is no valid JSON: {line}column {wrong.colno}: {wrong.msg}") from wrong
    except RecursionError as deep:
        raise error(f"{name} is no valid JSON: nested too deeply") from deep
    except ValueError as wrong:  # a number with more digits than Python converts
        raise error(f"{name} is no valid JSON: {wrong}") from wrong


def read_data(kind: type[T], data: Mapping[str, Any]) -> T:
    """Build a dataclass from `asdict`'s data, without unknown fields; raises ValueError if they are damaged."""
    reader: TypeAdapter[T] = _reader(kind)  # type: ignore[arg-type]  # mypy treats no class as hashable
    return reader.validate_python(dict(data))


@functools.cache
def _reader(kind: type[Any]) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter  # importing takes .1 s, and most commands read nothing

    return TypeAdapter(kind)


def read_toml(path: Path, name: str = "", error: type[InputError] = InputError) -> dict[str, Any]:
    """Read a TOML file; see `read_text`."""
    text = read_text(path, name, error)
    name = name or str(path)
    try:
        return tomllib.loads(text)
    except RecursionError as deep:
        raise error(f"{name} is no valid TOML: nested too deeply") from deep
    except ValueError as wrong:
        raise error(f"{name} is no valid TOML: {wrong}{_backslash_hint(str(wrong), text)}") from wrong


def _backslash_hint(wrong: str, text: str) -> str:
    """How to write a Windows path, if the invalid line has a backslash in double quotes."""
    place = re.search(r"line (\d+)", wrong)
    if place and any(map(_WITH_BACKSLASH.search, text.splitlines()[int(place[1]) - 1 : int(place[1])])):
        return "; a path with backslashes stands in single quotes: 'C:\\data\\my.csv'"
    return ""


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
    """Read YAML; callers must not change the result, which is cached."""
    import yaml

    if _depth(text) > _DEEPEST:  # the parser would take minutes to find out if deep recursion is allowed
        raise error(f"{name} is no valid YAML: nested too deeply")
    try:
        document = yaml.compose(text, Loader=_yaml_loader())
        is_sound = _n_values(document, {}) <= _MOST_VALUES
        node = _yaml_node(_yaml_loader()(""), document) if is_sound else None
    except (yaml.YAMLError, RecursionError, ValueError) as wrong:
        raise error(f"{name} is no valid YAML: {_fault(wrong)}") from wrong
    if node is None:
        raise error(f"{name} repeats itself by aliases: it holds over {_MOST_VALUES:,} values")
    return node


def _fault(wrong: Exception) -> str:
    if isinstance(wrong, RecursionError):
        return "nested too deeply"
    mark = getattr(wrong, "problem_mark", None) or getattr(wrong, "context_mark", None)
    if mark is None:
        return " ".join(str(wrong).split())
    told = getattr(wrong, "problem", None) or getattr(wrong, "context", None)
    return f"line {mark.line + 1}, column {mark.column + 1}: {told}"


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
