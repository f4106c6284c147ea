"""The label in a JSON answer, wherever in the answer the JSON stands."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from typing import TYPE_CHECKING, Any

from psopt.answers._extract import Extract
from psopt.answers._no_label import NO_FIELD, NO_JSON, SEVERAL, UNKNOWN
from psopt.answers._reading import unescaped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Line breaks inside strings are accepted: models write them, and they can mean nothing else.
_DECODER = json.JSONDecoder(strict=False)
_OBJECT = re.compile(r"\{\s*[\"}]")
# A text with this many broken objects is no answer. Each costs time linear in the text's length: this bounds the total.
_MOST_BROKEN = 1000
_MISSING = object()


class JSONField:
    """Reads a member of the last complete JSON object that has it.

    Its path is ``team``, or ``result.team`` for nested objects; a number stands for a place in a list.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        last = path.rpartition(".")[2]
        # The prompt may end with the beginning of the answer, as the assistant's last turn: then the answer lacks it.
        self._openings = ("{", f'{{"{last}": "', f'{{"{last}": ')

    def __call__(self, text: str) -> Extract:
        """Return the member's text."""
        extract = self._taken_from(text)
        if extract.kind == NO_JSON and "\\" in text:  # JSON has no escape such as \_, but models write it
            return self._taken_from(unescaped(text))
        return extract

    def _taken_from(self, text: str) -> Extract:
        values: list[Any] = []
        listed: list[Any] = []
        kind = NO_JSON
        for decoded, is_listed in itertools.chain(self._begun_in_the_prompt(text), _objects(text)):
            kind = NO_FIELD
            if not is_listed:
                listed = []
            member = _member(decoded, self._path)
            if member is not _MISSING:
                listed.append(member)
                values = listed
        if not values:
            return Extract(None, kind)
        is_one = all(value == values[0] for value in values)
        return _text_of(values[0] if is_one else values)

    def _begun_in_the_prompt(self, text: str) -> Iterator[tuple[Mapping[str, Any], bool]]:
        for opening in self._openings:
            with contextlib.suppress(ValueError, RecursionError):
                yield _DECODER.raw_decode(opening + text)[0], False


def _objects(text: str) -> Iterator[tuple[Mapping[str, Any], bool]]:
    """Yield the complete objects in a text that are not inside another, and whether each is listed after another."""
    place = 0
    end = len(text)
    n_broken = 0
    while n_broken < _MOST_BROKEN and (opening := _OBJECT.search(text, place)):
        try:
            decoded, place = _DECODER.raw_decode(text, opening.start())
            yield decoded, text[end : opening.start()].strip() == ","
            end = place
        except json.JSONDecodeError as error:
            n_broken += 1
            # What stands before the error belongs to the broken object: an inner one is no answer of its own.
            place = max(error.pos, opening.start() + 1)
        except ValueError:  # a number with more digits than Python converts
            n_broken += 1
            place = opening.end()
        except RecursionError:
            return


def _member(value: Any, path: str) -> Any:
    """The member at a path, `_MISSING` if there is none; a name may itself contain dots."""
    if isinstance(value, list) and len(value) == 1 and not path.partition(".")[0].isdigit():
        value = value[0]
    head, dot, tail = path.partition(".")
    member = _child(value, path)
    if member is not _MISSING or not dot:
        return member
    child = _child(value, head)
    return child if child is _MISSING else _member(child, tail)


def _child(value: Any, name: str) -> Any:
    """The member of this name, whose case does not matter if only one fits, or at this place of a list; `_MISSING`."""
    if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
        return value[int(name)]
    if not isinstance(value, dict):
        return _MISSING
    if name in value:
        return value[name]
    alike = [member for key, member in value.items() if key.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else _MISSING


def _text_of(value: Any) -> Extract:
    structure = ""
    if isinstance(value, (list, dict)):
        structure = json.dumps(value, ensure_ascii=False)
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return Extract(value, structure=structure)
    if not value and not isinstance(value, (bool, int, float)):
        return Extract("", structure=structure)
    if isinstance(value, list):
        return Extract(None, SEVERAL, structure)
    if isinstance(value, dict):
        return Extract(None, UNKNOWN, structure)
    return Extract(json.dumps(value), structure=structure)
