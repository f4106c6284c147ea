"""Reading what a model said: which label does an answer name?"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from psopt.answers._assertions import ANSWER, NAMES, REJECTED, is_asserted, is_parted, without_crossed
from psopt.answers._extract import composed, spoken_part, unescaped
from psopt.answers._label_names import LabelNames, joined_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psopt.answers._label_names import Standing

_QUOTES = " \t\r\n\v\f\u00a0\ufeff\u200b\"'`*_~“”„‘’‚«»‹›「」『』"
_EDGES = _QUOTES + "()[]{}<>#|\\•·"
_STOPS = _EDGES + ".,;:!?…。！？，、/"
_MARGIN = 64  # characters that an answer may have besides its label and still be just that label: quotes, stops
_DEEPEST = 4  # levels of JSON within JSON: a bound on recursion, more than any answer needs
_FIELDS = frozenset({"label", "answer", "class", "category", "classification", "prediction", "output", "result"})
# JSON members that stand next to the answer; they hold it only if there are no others.
_BESIDE = re.compile(
    "reasons?|reasoning|why|explanation|rationale|justification|evidence|comment|notes?|confidence|page", re.IGNORECASE
)
_LOOKED_AT = 20  # places of a label that are checked from either end of an answer: a bound on the time
_EMPHASIS = re.compile(r"([*_]{1,3})(\S.*)\1", re.DOTALL)
_COMPARED = re.compile(r"[<>≤≥]=?\s*\Z")
_LANGUAGE = re.compile(r"\A[ \t]*(?:json\b|[\w+#.-]+[ \t]*\n(?=\s*\S))", re.IGNORECASE)  # after the ticks of a fence
# What may stand between "Answer:" and the label.
_BEGINS = re.compile(
    r"(?:[\W_]|(?:it|this|that)(?:\s+is|['’]s)\b|(?:the|a|an|is|most|likely|probably|clearly|definitely)\b"
    r"|(?:label|class|category|answer|text|boxed|mathrm)\b)*+",
    re.IGNORECASE,
)
_LEADING = r"""[\s"'*_`\#>•\-]*+
    (?:(?:so|therefore|thus|hence|overall|conclusion)\b[,:\s]*+)?
    (?:(?:the|my|its|final|correct|best|right|predicted|chosen|most|likely|overall|die|la|el|il|de|a)\s++)*+"""
_DECLARED = re.compile(
    rf"""{_LEADING}(?:{NAMES})\b[\s"'*_`]*+
    (?:(?:is|ist|lautet|est|es|è|é)\b|(?:would|should|must)\s+be\b|[:=：]|->|→|\Z)[\s"'*_`:]*+""",
    re.IGNORECASE | re.VERBOSE,
)
# "Answer:" behind a sentence on the same line, but for one that a quotation ends with
_INLINE = re.compile(
    rf"""(?:([.!?…;][)"'”*_]*)[^\S\n]+|([。！？]))
    (?={_LEADING}(?:{ANSWER})\b[\s"'*_`]*[:：](?![^\S\n]*[^\s"“”«»][^"“”«»\n]{{0,80}}["”»](?!\w)))""",
    re.IGNORECASE | re.VERBOSE,
)


def read_answer(answer: str | None, labels: Sequence[str]) -> int:
    """Return the index of the label that an answer names, or ``len(labels)`` (N/A).

    In this order:

    1. An answer that is a label, apart from white space, quotes, Markdown, brackets and closing punctuation. Exact case
       wins; if only one label fits, neither case nor separators matter (`human_being`: "Human being").
    2. Reasoning, such as in ``<think>``, is removed. If it never ends, there is no answer: N/A.
    3. JSON, bare or fenced, is read by its fields label, answer, class and the like or, if it has none, by all fields.
    4. A last line such as ``Answer: X``, or one that ends so, overrules the reasoning before it. It must name one
       label. Neither an earlier such line nor a first line that is a label may name another: that is a model which has
       gone on to invent questions.
    5. The only label that stands in the answer as a whole word or phrase (see `LabelNames`), if the answer asserts it
       (`is_asserted`): "It is X", a line or a sentence of its own, quoted. A label that is only mentioned is N/A, since
       it is unknown what the sentence says about it.

    Escapes of Markdown and HTML are undone first, and what is struck out is left out (`without_crossed`). Two different
    labels are N/A, and so is a label that is denied ("not X"), whatever else is named. So are refusals, empty answers
    and None. Nothing is guessed from part of a label.

    Takes 0.2 µs if the answer is exactly the label, and otherwise time linear in the answer's length.

    >>> labels = ["Number", "Entity", "Number of people"]
    >>> answers = ["number.", "It is an **Entity**", "Number of people", "Number? Entity?"]
    >>> [read_answer(answer, labels) for answer in answers]
    [0, 1, 2, 3]
    """
    return _index_of(answer, labels, _Reader.read)


def whole_label(text: str, labels: Sequence[str]) -> int:
    """Return the index of the label that a text is, or ``len(labels)``: only the first rule of `read_answer`."""
    return _index_of(text, labels, _Reader.whole)


def _index_of(text: str | None, labels: Sequence[str], read: Callable[[_Reader, str], int | None]) -> int:
    """The index of the label that a text is exactly, or else that `read` finds in it; ``len(labels)`` for N/A."""
    if not text:
        return len(labels)
    reader = _reader(tuple(labels))
    label = reader.exact.get(text)
    if label is None:
        label = read(reader, text)
    return len(labels) if label is None else label


def is_finished_label(answer: str, labels: Sequence[str]) -> bool:
    r"""Whether an answer that was cut off holds a complete label: alone, or on a finished first line.

    A label with which another one begins may itself have been cut off.
    """
    first, newline, _ = answer.strip().partition("\n")
    place = whole_label(first, labels)
    if place == len(labels):
        return False
    key = joined_key(labels[place])
    return bool(newline) or not any(joined_key(label).startswith(key) for label in labels if label != labels[place])


def n_named(answer: str, labels: Sequence[str]) -> int:
    """How many labels an answer names, apart from its reasoning."""
    return len({place.label for place in labels_in(unescaped(spoken_part(answer) or ""), labels)})


def labels_in(text: str, labels: Sequence[str]) -> list[Standing]:
    return list(_reader(tuple(labels)).names.standing(text))


def uncrossed(text: str, labels: Sequence[str]) -> str | None:
    """Return an answer without what it has struck out; None if that leaves it unclear what is meant."""
    left, is_clear = without_crossed(text, _reader(tuple(labels)).names)
    return left if is_clear else None


class _Reader:
    """What is prepared once for a list of labels; its methods return None for N/A."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.exact = {label: index for index, label in enumerate(labels)}
        labels = tuple(composed(label).strip() for label in labels)
        self._written = _unambiguous(labels)
        self._folded = _unambiguous([label.casefold() for label in labels])
        self._joined = _unambiguous([joined_key(label) for label in labels])
        self._longest = max(map(len, labels), default=0) + _MARGIN
        self.names = LabelNames(labels)
        # Signs with which a label begins or ends, as in "A*" and "<5", are its own: other margins are cut off first.
        own = dict.fromkeys(map(ord, {edge for label in labels for edge in (label[:1], label[-1:]) if edge}))
        margins = [("", ""), (_QUOTES, _QUOTES), (_EDGES, _STOPS)]
        without_own = [(left.translate(own), right.translate(own)) for left, right in margins]
        self._margins = list(dict.fromkeys([*without_own, *margins]))

    def read(self, answer: str, depth: int = 0) -> int | None:
        """Read an answer that is not exactly a label."""
        whole = self.whole(answer)
        if whole is not None:
            return whole
        spoken = spoken_part(answer)
        if spoken is None:
            return None
        if depth < _DEEPEST and (value := json_part(spoken)) is not None:
            return self.read(value, depth + 1)
        left, is_clear = without_crossed(unescaped(spoken), self.names)
        text = _with_breaks(left.strip())
        declared = _last_declaration(text)
        if declared is None:
            return self._label_named(text) if is_clear else None
        return self._declared(text, *declared)

    def _label_named(self, text: str) -> int | None:
        """The label that a text asserts."""
        whole = self.whole(text)
        if whole is not None:
            return whole
        places = self.names.the_only_one(text)
        looked_at = {*places[:_LOOKED_AT], *places[-_LOOKED_AT:]}
        if any(is_asserted(text, standing) for standing in looked_at):
            return places[0].label
        return None

    def _declared_label(self, text: str, start: int) -> int | None:
        """The label that follows "Answer:" in a text, if no other label does."""
        remainder = text[start:]
        whole = self.whole(remainder)
        if whole is not None:
            return whole
        first = next(iter(self.names.the_only_one(text, start)), None)
        if first is None:
            return None
        is_next = _BEGINS.fullmatch(text, start, first.start) and is_parted(text, first)
        in_remainder = first._replace(start=first.start - start, end=first.end - start)
        if is_next or is_asserted(remainder, in_remainder):
            return first.label
        return None

    def whole(self, text: str) -> int | None:
        """The label that a text is, apart from its edges and what it has struck out, as written or without escapes."""
        text, is_clear = without_crossed(text, self.names)
        if not is_clear:
            return None
        label = self._whole(composed(text))
        if label is None and ("\\" in text or "&" in text):
            return self._whole(unescaped(text))
        return label

    def _whole(self, text: str) -> int | None:
        text = text.strip()
        if len(text.strip(_QUOTES)) > self._longest:
            return None
        unwrapped = _EMPHASIS.fullmatch(text)
        wholes = [text] if unwrapped is None else [text, unwrapped[2]]
        for left, right in self._margins:
            for whole in wholes:
                candidate = whole.lstrip(left).rstrip(right)
                place = self._called(candidate)
                if place is not None:
                    return None if _is_changed(whole, candidate) else place
        return None

    def _called(self, name: str) -> int | None:
        """The label of a name, by exact case or, if only one label fits, without case or separators."""
        if name in self._written:
            return self._written[name]
        if name.casefold() in self._folded:
            return self._folded[name.casefold()]
        return self._joined.get(joined_key(name))

    def _declared(self, text: str, start: int, label_start: int) -> int | None:
        """The label that the last line declares, if no other line declares another."""
        decided = self._declared_label(text, label_start)
        if decided is None and self.names.the_only_one(text[start:label_start]):
            return self._label_named(text)  # "Answer" is a label here
        lines = text.splitlines()
        declarations = ((line, match.end()) for line in lines if (match := _DECLARED.match(line)))
        others = {self.whole(lines[0]), *(self._declared_label(line, end) for line, end in declarations)}
        return decided if others <= {None, decided} else None


_reader = functools.lru_cache(maxsize=256)(_Reader)


def _is_changed(text: str, label: str) -> bool:
    """Whether a sign next to a short label makes it another: "<5" is no 5, and C# is no C."""
    before, _, after = text.partition(label)
    if label[:1].isdigit():
        return ">" not in after and _COMPARED.search(before) is not None
    return len(label) == 1 and after.startswith("#") and "#" not in before


def _unambiguous(keys: Sequence[str]) -> dict[str, int]:
    """Indices by key, without duplicate keys and the empty one."""
    times = Counter(keys)
    return {key: index for index, key in enumerate(keys) if key and times[key] == 1}


def json_part(text: str) -> str | None:
    """Return the answer in a text's JSON, the whole text or its fenced blocks; None if there is none."""
    text = text.strip()
    parts = [part for part in map(_json_text, [text, *_fenced(text)]) if part is not None]
    return "\n".join(dict.fromkeys(parts)) if parts else None


def _json_text(block: str) -> str | None:
    if not block.startswith(("{", "[", '"')):
        return None
    with contextlib.suppress(ValueError, RecursionError):
        return _text_in(json.loads(block))
    if "\\" in block:  # JSON has no escape such as \_
        with contextlib.suppress(ValueError, RecursionError):
            return _text_in(json.loads(unescaped(block)))
    return None


def fenced_part(text: str) -> str:
    """Return the content of a text's last fenced block; empty if there is none."""
    return next(reversed(_fenced(text)), "")


def _fenced(text: str) -> list[str]:
    return [_LANGUAGE.sub("", part).strip() for part in text.split("```")[1::2]]


def declared_part(text: str) -> str | None:
    """Return what a last line, or its end, such as "Answer: X" declares; None if there is none."""
    stripped = _with_breaks(text.strip())
    declared = _last_declaration(stripped)
    if declared is None:
        return None
    return stripped[declared[1] :].strip() or None


def _with_breaks(text: str) -> str:
    """A text in which each "Answer:" that follows a sentence begins a line."""
    return _INLINE.sub(r"\1\2\n", text)


def _text_in(value: Any, depth: int = 0) -> str:
    """The text in a JSON value that may be the answer; in an object, that of its answer fields, if it has any."""
    if isinstance(value, dict):
        value = answering(value)
    if value is None or (isinstance(value, list) and depth == _DEEPEST):
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (_text_in(element, depth + 1) for element in value)))
    return value if isinstance(value, str) else json.dumps(value)


def answering(members: Mapping[str, Any]) -> list[Any]:
    """The members of a JSON object that may be the answer: its answer fields or, if it has none, all that may be."""
    named = [member for name, member in members.items() if name.casefold() in _FIELDS]
    if named:
        return named
    possible = {name: member for name, member in members.items() if not REJECTED.search(name)}
    own = [member for name, member in possible.items() if not _BESIDE.fullmatch(name)]
    return own or [*possible.values()]


def _last_declaration(text: str) -> tuple[int, int] | None:
    """Where a last line such as "Answer: X" starts, and where X does; X may stand on a line of its own."""
    start = text.rfind("\n") + 1
    match = _DECLARED.match(text, start)
    if match is None or match.end() == len(text):
        previous = text[:start].rstrip()
        start = previous.rfind("\n") + 1
        match = _DECLARED.match(previous, start)
        if match is None or match.end() < len(previous):
            return None
    return start, match.end()
