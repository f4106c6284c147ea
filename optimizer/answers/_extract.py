"""The part of an answer that holds the label: after reasoning, in JSON, in a tag, ..; and why an answer names none."""

from __future__ import annotations

import contextlib
import html
import json
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.errors import InputError
from psopt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


UNKNOWN = "unknown label"
SEVERAL = "several labels"
MENTION = "mention"
EMPTY = "empty"
CUT_OFF = "cut off"
NO_NUMBER = "no number"
SEVERAL_NUMBERS = "several numbers"
NO_JSON = "no JSON"
NO_FIELD = "no field"
NO_TAG = "no tag"
NO_MATCH = "no match"
REFUSED = "refused"
_SAY_HOW = "say by --answer where in an answer the label stands"
NO_LABEL_CURES = {
    UNKNOWN: "say in the prompt to answer with a label only",
    SEVERAL: "say in the prompt to answer with one label only",
    MENTION: f"say in the prompt to answer with a label only, or {_SAY_HOW}",
    NO_NUMBER: "say in the prompt to answer with a number only",
    SEVERAL_NUMBERS: "say in the prompt to answer with one number only, or say by --answer where it stands",
    EMPTY: "raise --max-tokens if the model thinks before it answers, else look at the server's log",
    CUT_OFF: "raise --max-tokens",
    "context length": "shorten the texts or the prompt",
    "invalid JSON": "try --plain",
    NO_JSON: f"say in the prompt to answer in JSON alone, send --response-format, or {_SAY_HOW}",
    NO_FIELD: f"{_SAY_HOW}: json:FIELD names the member",
    NO_TAG: f"say in the prompt which tag the answer stands in, or {_SAY_HOW}",
    NO_MATCH: _SAY_HOW,
    REFUSED: "leave such texts out, or take a model that answers them",
}
_LONGEST = 80  # characters of an answer that are shown


@dataclass(frozen=True, slots=True)
class NoLabel:
    """An answer that names no label."""

    # Its place in an (N, Q) array of predictions
    sample: int
    rephrasing: int
    # ``unknown label``, ``several labels``, ``mention`` (a sentence names one without asserting it), ``empty``, ``cut
    # off``, ``refused``, ``content filter``, ``context length`` or ``invalid JSON``; also ``no JSON``, ``no field``,
    # ``no tag`` or ``no match``, for prompts whose answers are not read as bare labels
    kind: str
    said: str  # what was answered, or how the server refused, shortened and on one line


def shown(text: str | None) -> str:
    r"""Return an answer in a form that can be printed anywhere: on one line, short, without control characters.

    >>> shown("The answer\n\x1b[31mis")
    'The answer [31mis'
    """
    line = one_line(text or "")
    return f"{line[: _LONGEST - 2]}.." if len(line) > _LONGEST else line


def answers_line(answers: Mapping[str, int]) -> str:
    """Say on one line how often each answer was given.

    >>> answers_line({"12": 7, "N/A": 2})
    '12 (7), N/A (2)'
    """
    return ", ".join(f"{shown(answer)} ({n})" for answer, n in answers.items())


_THOUGHTS = "think|thinking|thoughts?|reasoning|analysis|scratchpad|reflection"
# Mistral's Magistral writes [THINK], gpt-oss its channels where a server leaves them in
# (docs.mistral.ai/capabilities/reasoning; cookbook.openai.com/articles/openai-harmony).
_THOUGHT_TAG = re.compile(rf"<(/?)(?:{_THOUGHTS})>|\[(/?)THINK\]", re.IGNORECASE)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_CHANNEL = "<|channel|>analysis"
_END_OF_TURN = re.compile(r"<\|(?:end|return)\|>\s*\Z")
_TAG_NAME = re.compile(r"[A-Za-z_][\w.:-]*")
# Line breaks inside strings are accepted: models write them, and they can mean nothing else.
_DECODER = json.JSONDecoder(strict=False)
_OBJECT = re.compile(r"\{\s*[\"}]")
# A text with this many broken objects is no answer. Each costs time linear in the text's length: this bounds the total.
_MOST_BROKEN = 1000
_MISSING = object()
# Invisible characters: zero-width ones, direction marks, soft hyphens, the selector that colours an emoji.
_UNSEEN = dict.fromkeys(
    map(ord, "\u00ad\u200b\u200c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufe0f\ufeff")
)
# Signs that models write for "-" and "+", and en dashes that are hyphens or minus signs.
_COMPOSED = _UNSEEN | str.maketrans("\u2010\u2011\u2012\u2212\uff0d\uff0b", "-----+")
_EN_DASH = re.compile(r"(?<=\w)–(?!\w)|(?<!\w)–(?=\d)|(?<=\d)–(?=\d)")
_ENTITY = re.compile(r"&#?\w{1,31};")
_ESCAPED = re.compile(r"\\([_*#\[\]()`~>+\-.!|&/])")


class Extract(NamedTuple):
    """What was taken out of an answer; where there is nothing to take, no text but the kind of N/A.

    `structure` is a list or an object as JSON: not a label, but maybe the answer where answers are several labels.
    """

    text: str | None
    kind: str = ""
    structure: str = ""


def spoken_part(text: str) -> str | None:
    """Remove reasoning, in any form that models write it; return None where it does not end.

    A chat template may have opened it: then the answer holds only its end.

    >>> spoken_part("[THINK]Sales? No.[/THINK]billing").strip()
    'billing'
    """
    before, final, after = text.rpartition(_FINAL_CHANNEL)
    if final:
        return _END_OF_TURN.sub("", after)
    if before == "" and after.lstrip().startswith(_CHANNEL):
        return None
    if "<" not in text and "[" not in text:
        return text
    outside: list[str] = []
    depth = 0
    end = 0
    for tag in _THOUGHT_TAG.finditer(text):
        closes = any(tag.groups())
        if depth == 0:
            outside.append(text[end : tag.start()])
        if not closes:
            depth += 1
        elif depth:
            depth -= 1
        else:
            outside.clear()
        end = tag.end()
    return None if depth else " ".join([*outside, text[end:]])


def has_thoughts(text: str) -> bool:
    """Whether reasoning begins or ends in a text, in any form that models write it."""
    return _CHANNEL in text or _FINAL_CHANNEL in text or _THOUGHT_TAG.search(text) is not None


class XMLTag:
    """Takes what stands between the last pair of a tag; where there is no pair, after its beginning or before its end.

    Stop sequences may have cut off the end, and the prompt may have ended with the beginning.
    """

    def __init__(self, tag: str) -> None:
        if not _TAG_NAME.fullmatch(tag):
            raise InputError(f"--answer xml:{tag} names no tag: give a name without brackets, such as xml:answer")
        self._tags = re.compile(rf"<(/?){re.escape(tag)}(?:\s[^<>]*)?>", re.IGNORECASE)

    def __call__(self, text: str) -> Extract:
        inner: str | None = None
        start: int | None = None
        for tag in self._tags.finditer(text):
            if not tag[1]:
                start = tag.end()
            elif start is not None:
                inner = text[start : tag.start()]
                start = None
            elif inner is None:
                inner = text[: tag.start()]
        if inner is None and start is not None:
            inner = text[start:]
        if inner is None:
            return Extract(None, NO_TAG)
        return Extract(html.unescape(inner))

    def is_closed(self, text: str) -> bool:
        """Whether the last tag of a text that was cut off is a closing one."""
        tags = list(self._tags.finditer(text))
        return bool(tags) and bool(tags[-1][1])


class Pattern:
    """Takes the last match of a regular expression: its first group that took part, or all if it has no groups."""

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise InputError(f"--answer regex:{pattern} is no regular expression: {error}") from error

    def __call__(self, text: str) -> Extract:
        extract = Extract(None, NO_MATCH)
        for match in self._pattern.finditer(text):
            groups = match.groups() or (match.group(),)
            extract = next((Extract(group) for group in groups if group is not None), extract)
        return extract

    def is_closed(self, text: str) -> bool:
        """Whether a text that was cut off continues after the last match, so that the match is complete."""
        matches = list(self._pattern.finditer(text))
        return bool(matches) and matches[-1].end() < len(text)


def last_line(text: str) -> Extract:
    """Take the last line that has more than white space and backticks."""
    return Extract(next((line for line in reversed(text.splitlines()) if line.strip().strip("`")), ""))


def unescaped(text: str) -> str:
    """Return a text in Unicode's composed form, without the escapes of Markdown and HTML."""
    return composed(_ENTITY.sub(lambda entity: html.unescape(entity[0]), _ESCAPED.sub(r"\1", text)))


def composed(text: str) -> str:
    """Return a text in Unicode's composed form, without invisible characters and with plain dashes."""
    if text.isascii():
        return text
    return _EN_DASH.sub("-", unicodedata.normalize("NFC", text).translate(_COMPOSED))


class JSONField:
    """Reads a member of the last complete JSON object that has it: ``team``, ``result.team``, by place ``teams.1``."""

    def __init__(self, path: str) -> None:
        self._path = path
        last = path.rpartition(".")[2]
        # The prompt may end with the beginning of the answer, as the assistant's last turn: then the answer lacks it.
        self._openings = ("{", f'{{"{last}": "', f'{{"{last}": ')

    def __call__(self, text: str) -> Extract:
        extract = self._taken_from(text)
        if extract.kind == NO_JSON and "\\" in text:  # JSON has no escape such as \_, but models write it
            return self._taken_from(unescaped(text))
        return extract

    def _taken_from(self, text: str) -> Extract:
        values: list[Any] = []
        listed: list[Any] = []
        kind = NO_JSON
        begun = []
        for opening in self._openings:
            with contextlib.suppress(ValueError, RecursionError):
                begun.append((_DECODER.raw_decode(opening + text)[0], False))
        for decoded, is_listed in (*begun, *_objects(text)):
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
