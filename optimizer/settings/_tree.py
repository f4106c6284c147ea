"""Settings as flat values by name, and back: run.json, keywords, flags and files have them in this form."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from psopt.errors import InputError, nearest
from psopt.settings._option import Leaf, all_leaves, groups, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_Settings = TypeVar("_Settings")


def built(
    group: type[_Settings], values: Mapping[str, Any], usual: _Settings | None = None, *, facts: bool = False
) -> _Settings:
    """Make settings from values by key; the others are as in `usual`, otherwise the defaults.

    A whole group may be among them, such as `lm`; individual values override it. Fields that are no options, but set
    by psopt itself, are taken only with `facts`.
    """
    arguments: dict[str, Any] = {}
    for name, inner in groups(group).items():
        whole = group_given(name, values.get(name) or getattr(usual, name, None), inner)
        arguments[name] = built(inner, values, whole, facts=facts)
    for leaf in leaves(group):
        if leaf.key in values and (leaf.option or facts):
            value = values[leaf.key]
            arguments[leaf.name] = _members(value) if leaf.is_tuple else value
        elif usual is not None:
            arguments[leaf.name] = getattr(usual, leaf.name)
    return group(**arguments)


def _members(value: Any) -> Any:
    """The members of a tuple of settings: a text is a single one, not its letters, and an id may be a number."""
    if isinstance(value, (str, int)):
        value = (value,)
    if not isinstance(value, Iterable):
        return value
    return tuple(str(member) if isinstance(member, int) else member for member in value)


def group_given(name: str, value: Any, group: type[_Settings]) -> _Settings | None:
    """The group of settings that an argument of this name gives, or None; raises InputError for anything else."""
    if value is None or isinstance(value, group):
        return value
    raise InputError(f"{name} takes {group.__name__}(..), not {value!r:.60}")


def changed_leaves(before: Any, after: Any, but: tuple[type, ...] = ()) -> Iterator[tuple[Leaf, Any, Any]]:
    """The fields that differ between two settings of one kind, at any depth, with both values in run.json's form."""
    for name, group in groups(type(before)).items():
        if group not in but:
            yield from changed_leaves(getattr(before, name), getattr(after, name), but)
    for leaf in leaves(type(before)):
        was, now = (_plain(getattr(settings, leaf.name), leaf) for settings in (before, after))
        if was != now:
            yield leaf, was, now


def check_keywords(keywords: Mapping[str, Any], *known: type, also: tuple[str, ...] = ()) -> None:
    """Raise InputError for a keyword that is no option of these settings; it suggests the nearest one."""
    names = [*also, *chain.from_iterable(map(_names, known))]
    for name in keywords:
        if name not in names:
            raise InputError(f"there is no option {name!r}{nearest(name, names)}")


def _names(group: type) -> Iterator[str]:
    """The names that may be set in a group: its options, and whole groups within it."""
    yield from (leaf.key for leaf in leaves(group) if leaf.option)
    for name, inner in groups(group).items():
        yield name
        yield from _names(inner)


def flat(settings: Any, *, nested: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return settings as plain JSON data, flat by key; groups that are `nested` as separate objects."""
    data: dict[str, Any] = {}
    for name in groups(type(settings)):
        inner = flat(getattr(settings, name), nested=nested)
        if name in nested:
            inner = {name: inner}
        data |= inner
    return data | {leaf.key: _plain(getattr(settings, leaf.name), leaf) for leaf in leaves(type(settings))}


def by_full_name(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in run.json's form without groups, each by its full name.

    >>> by_full_name({"trials": 40, "lm": {"max_tokens": 256}})
    {'trials': 40, 'lm.max_tokens': 256}
    """
    full: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            full |= {f"{name}.{inner}": of_inner for inner, of_inner in by_full_name(value).items()}
        else:
            full[name] = value
    return full


def of_flat(group: type[_Settings], data: Mapping[str, Any], *, nested: tuple[str, ...] = ()) -> _Settings:
    """Read settings back from `flat`'s data; raises InputError for a key that this version does not know."""
    values = {key: value for key, value in data.items() if key not in nested}
    for name in nested:
        values |= data.get(name, {})
    leaves_by_key = {leaf.key: leaf for leaf in all_leaves(group)}
    for key in values:
        if key not in leaves_by_key:
            raise InputError(f"there is no setting {key!r}")
    return built(group, {key: _read(value, leaves_by_key[key]) for key, value in values.items()}, facts=True)


def _plain(value: Any, leaf: Leaf) -> Any:
    if leaf.option and leaf.option.write and value is not None:
        return leaf.option.write(value)
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def _read(value: Any, leaf: Leaf) -> Any:
    if isinstance(value, str) and leaf.option and leaf.option.read:
        return leaf.option.read(value)
    if isinstance(value, list) and leaf.is_tuple:
        return tuple(value)
    if isinstance(value, str) and Path in leaf.types and str not in leaf.types:
        return Path(value)
    return value
