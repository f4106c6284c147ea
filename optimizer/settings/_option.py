"""An option: a field of the settings, with the data that every way of setting it needs."""

import functools
import inspect
import operator
import os
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from psopt.errors import InputError, UnknownNameError

Rank = Literal["first", "more", "config"]
_OPTION = "option"
_Settings = TypeVar("_Settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What is declared for a field besides its name, type and default."""

    meaning: str  # its text in the help
    panel: str  # its box in the help
    metavar: str | None = None  # the name of its value there
    # Its name in run.json and configuration files, as a keyword and, with dashes, as a flag; empty for the field's name
    key: str = ""
    flags: str = ""  # if they differ from its key: ``--structured/--plain``
    shown_default: str | None = None  # the meaning of the default, in words
    # The smallest and the largest value, and a value that it must exceed
    least: float | None = None
    most: float | None = None
    above: float | None = None
    # Whether --help shows it, or --help-all, or neither: then it is for a configuration file, and its flag is hidden
    rank: Rank = "more"
    changed_by: tuple[str, ...] = ()  # the verbs that may change it for an existing run or study
    # Makes its value from the command line: from a text, or from a list of texts where it `repeats`
    read: Callable[[Any], Any] | None = None
    write: Callable[[Any], Any] | None = None  # makes the value for run.json
    repeats: bool = False  # whether its flag may be given several times


def like(group: Any, name: str) -> Any:
    """Declare an option as the field of that name in another group does."""
    return copy(next(member for member in fields(group) if member.name == name))


@dataclass(frozen=True, slots=True)
class Panel:
    """A box of the help, and the ways to declare an option in it."""

    title: str

    def option(self, meaning: str, metavar: str | None = None, default: Any = None, **more: Any) -> Any:
        """Declare an option that ``--help-all`` shows: a field with `Option`'s attributes; ``...``: it is required."""
        metadata = {_OPTION: Option(meaning=meaning, panel=self.title, metavar=metavar, **more)}
        if isinstance(default, dict):
            return field(default_factory=default.copy, metadata=metadata)
        return field(default=MISSING if default is ... else default, metadata=metadata)

    first = functools.partialmethod(option, rank="first")  # an option that ``--help`` shows
    rare = functools.partialmethod(option, rank="config")  # one that is mainly for a configuration file


# The boxes that several groups of options are in
DATA = Panel("Data")
MODEL = Panel("Model")
PROMPT = Panel("Prompt")
REPHRASINGS = Panel("Rephrasings")
SEARCH = Panel("Search")
LIMITS = Panel("Limits")
OUTPUT = Panel("Output")


class Leaf(NamedTuple):
    """A field of the settings that is not a group."""

    name: str  # in its class
    key: str  # everywhere else
    hint: Any
    default: Any  # `dataclasses.MISSING` where there is none
    option: Option | None  # None if only psopt itself sets it

    @property
    def flags(self) -> str:
        """Its flags on the command line."""
        return (self.option and self.option.flags) or f"--{self.key.replace('_', '-')}"

    @property
    def types(self) -> tuple[Any, ...]:
        """The types that a value may have, except None."""
        if isinstance(self.hint, type) or get_origin(self.hint) in {Literal, tuple}:
            return (self.hint,)
        return tuple(kind for kind in get_args(self.hint) if kind is not NoneType)

    @property
    def choices(self) -> tuple[str, ...]:
        """The allowed words of a value; empty for any."""
        return get_args(self.types[0]) if get_origin(self.types[0]) is Literal else ()

    @property
    def is_tuple(self) -> bool:
        """Whether a value is a tuple."""
        return get_origin(self.types[0]) is tuple


def leaves(group: Any) -> tuple[Leaf, ...]:
    """The fields of a group of settings that are not groups themselves."""
    return tuple(leaf_of(member, hint) for member, hint in _members(group) if not is_dataclass(hint))


def groups(group: Any) -> dict[str, Any]:
    """The groups within a group of settings, by field."""
    return {member.name: hint for member, hint in _members(group) if is_dataclass(hint)}


def all_leaves(group: Any) -> Iterator[Leaf]:
    """The fields of a group and of the groups within it, in order."""
    for member, hint in _members(group):
        if is_dataclass(hint):
            yield from all_leaves(hint)
        else:
            yield leaf_of(member, hint)


@functools.cache
def _members(group: Any) -> list[tuple[Field[Any], Any]]:
    hints = get_type_hints(group)
    return [(member, hints[member.name]) for member in fields(group)]


def leaf_of(member: Field[Any], hint: Any, name: str = "") -> Leaf:
    """A field as the settings' users see it; one that is a parameter's default has the parameter's name."""
    declared = member.metadata.get(_OPTION)
    default = member.default
    if member.default_factory is not MISSING:
        default = member.default_factory()
    name = name or member.name
    return Leaf(name, (declared and declared.key) or name, hint, default, declared)


def check(settings: Any, **least: float) -> None:
    """Raise InputError for a value outside its declared range, or below its `least`, for fields without an option."""
    for leaf in leaves(type(settings)):
        value = getattr(settings, leaf.name)
        declared = leaf.option or Option(meaning="", panel="", least=least.get(leaf.name))
        if value is None and NoneType in get_args(leaf.hint):
            continue
        if leaf.option and leaf.choices:
            if value not in leaf.choices:
                raise UnknownNameError(leaf.key, str(value), leaf.choices)
        elif fault := _misfit(value, leaf.types) or _fault(value, declared):
            raise InputError(f"{leaf.key} must be {fault}, not {value!r}")


class Checked:
    """A group of settings whose values lie in the ranges that are declared for them, whoever makes it."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check(self)


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", Path: "a path"}


def _misfit(value: Any, types: tuple[Any, ...]) -> str:
    """What a value must be, in words, if it is of none of these types; empty where they are not all simple ones."""
    if not _KINDS.keys() >= set(types):
        return ""
    fits = {bool: isinstance(value, bool), str: isinstance(value, str), Path: isinstance(value, (str, os.PathLike))}
    fits[int] = isinstance(value, Integral) and not fits[bool]
    fits[float] = isinstance(value, Real) and not fits[bool]
    return "" if any(fits[kind] for kind in types) else " or ".join(_KINDS[kind] for kind in types)


def _fault(value: Any, declared: Option) -> str:
    """The range that a number is outside of, in words; empty if it is inside. NaN is outside of every range."""
    checks = (
        ("above", declared.above, operator.gt),
        ("at least", declared.least, operator.ge),
        ("at most", declared.most, operator.le),
    )
    bounds = [(words, bound, is_met) for words, bound, is_met in checks if bound is not None]
    if all(is_met(value, bound) for _, bound, is_met in bounds):
        return ""
    return " and ".join(f"{words} {bound:g}" for words, bound, _ in bounds)


def told(settings: type[_Settings]) -> type[_Settings]:
    """Add the meanings of its options to the docstring of a class of settings."""
    lines = ["", "Attributes", "----------"]
    for leaf in leaves(settings):
        if leaf.option is not None:
            hint = leaf.hint.__name__ if isinstance(leaf.hint, type) else str(leaf.hint).replace("typing.", "")
            lines += [f"{leaf.name} : {hint}", f"    {leaf.option.meaning}"]
    settings.__doc__ = "\n".join([inspect.cleandoc(settings.__doc__ or ""), *lines])
    return settings


def pairs(texts: list[str]) -> Mapping[str, str]:
    """Read NAME=VALUE, given several times; a refused one is named by its number, since it may be a secret."""
    values = {}
    for number, text in enumerate(texts, 1):
        name, sign, value = text.partition("=")
        if not (name.strip() and sign):
            raise ValueError(f"number {number} has no {'name' if sign else 'sign ='}: NAME=VALUE is expected")
        values[name.strip()] = value.strip()
    return values


def listed(text: str) -> tuple[str, ...]:
    """Read a list separated by commas; raises InputError for an empty member.

    >>> listed("low, high")
    ('low', 'high')
    """
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise InputError(f"{text!r} is no list of labels: LOW,MEDIUM,HIGH is expected")
    return names
