"""Answers that are several labels: the more labels two of them share, the more alike they are (Jaccard)."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.answers._label_names import LabelNames
from psopt.answers._no_label import UNKNOWN
from psopt.answers._open_answers import OpenAnswers
from psopt.answers._reading import declared_part, fenced_part, unescaped, whole_label, without_crossed
from psopt.tasks import set_written, written_set

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARTS = re.compile(r"\s*(?:[,;|\n/]|\band\b|(?:^|\n)\s*[-*•]\s)\s*", re.IGNORECASE)
_NOTHING = frozenset({"", "none", "[]", "{}", "no label", "no labels", "none of them", "none of these", "n/a", "null"})
_HEADING = re.compile(r"\A\W*[^\W\d]\w*(?:[ \t]+\w+){0,2}\W*:")  # "Labels: "
_BETWEEN = re.compile(r"(?:[\W_]|\b(?:\d{1,3}(?=[.):])|and|und|et|y|e)\b)*", re.IGNORECASE)
_names = functools.lru_cache(maxsize=64)(LabelNames)
_EDGES = " \t\r\n.\"'`*_-•[](){}"


@dataclass(frozen=True, slots=True)
class LabelSets(OpenAnswers):
    """Several labels per sample, or none."""

    is_exact: bool = False  # whether two sets are just the same or not, instead of alike to a degree

    quality_name = "micro-F1"  # 2 TP / (2 TP + FP + FN) over all labels of all answers

    @property
    def note(self) -> str:
        """What is measured differently than for one label."""
        alike = "sets as alike as far as they share labels (Jaccard)"
        if self.is_exact:
            alike = "sets as the same or not"
        quality = "micro-F1 is over all labels of all answers"
        return f"Answers are several labels: {quality}, S counts {alike}, and C is pooled over labels"

    @property
    def is_graded(self) -> bool:
        """Whether two sets may be alike to a degree, by the labels that they share."""
        return not self.is_exact

    def similarity(self, first: str, second: str) -> float:
        """Return the Jaccard coefficient, 1 for two empty sets; it is a kernel.

        >>> LabelSets().similarity('["a", "b"]', '["b", "c"]'), LabelSets().similarity("[]", "[]")
        (0.3333333333333333, 1.0)
        """
        ours, theirs = set_written(first), set_written(second)
        if self.is_exact or ours == theirs:
            return float(ours == theirs)
        return len(ours & theirs) / len(ours | theirs)

    def claims(self, answer: str | None, reference: str) -> float:
        """Return how much an answer weighs in micro-F1: the number of its labels plus that of the right ones."""
        return float(len(set_written(answer or "[]")) + len(set_written(reference)))

    def worth(self, answer: str, reference: str) -> float:
        """Return the F1 of one answer's labels, 1 for two empty sets."""
        ours, right = set_written(answer), set_written(reference)
        if ours == right:
            return 1.0
        return 2 * len(ours & right) / (len(ours) + len(right))


def read_set(answer: str, labels: tuple[str, ...]) -> tuple[str | None, str]:
    """Return the labels that an answer gives, in canonical form, and no kind; or None, and why.

    It is a JSON list, bare or fenced, or labels separated by commas, semicolons, bars, "and" or line breaks, perhaps
    numbered or after "Labels:". An answer that names a label other than the task's is N/A: what it means is unknown.

    >>> read_set("Billing and sales.", ("billing", "sales")), read_set("[]", ("billing", "sales"))
    (('["billing", "sales"]', ''), ('[]', ''))
    >>> read_set("billing, maybe refunds", ("billing", "sales"))
    (None, 'unknown label')
    """
    text = without_crossed(fenced_part(answer) or answer, labels).strip()
    for part in (text, declared_part(text)):
        if part is None:
            continue
        places = [whole_label(member, labels) for member in _members(part, labels) if member.strip(_EDGES)]
        if all(place < len(labels) for place in places):
            return written_set([labels[place] for place in places], labels), ""
        if named := _nothing_but_labels(part, labels):
            return written_set(named, labels), ""
    return None, UNKNOWN


def _members(text: str, labels: tuple[str, ...]) -> Sequence[str]:
    """The parts of a text that should be labels."""
    if (listed := _listed(text)) is not None:
        return listed
    if whole_label(text, labels) < len(labels):
        return [text]
    bare = text.strip(_EDGES)
    if _NOTHING.isdisjoint((text.strip().casefold(), bare.casefold())):
        return _PARTS.split(bare)
    return []


def _nothing_but_labels(text: str, labels: tuple[str, ...]) -> list[str]:
    """The labels that a text names, if it has no other words: a label may itself contain a comma or "and"."""
    plain = unescaped(text)
    standing = list(_names(labels).standing(plain))
    ends = [0, *(place.end for place in standing)]
    starts = [*(place.start for place in standing), len(plain)]
    between = [plain[end:start] for end, start in zip(ends, starts, strict=True)]
    between[0] = _HEADING.sub("", between[0])
    if not all(_BETWEEN.fullmatch(part) for part in between):
        return []
    return [labels[place.label] for place in standing]


def _listed(text: str) -> list[str] | None:
    """The texts of a JSON list or of an object's only list, or the true keys of an object of truth values (or 0, 1)."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and value and all(is_said in (0, 1) for is_said in value.values()):
        return [label for label, is_said in value.items() if is_said]
    if isinstance(value, dict):
        lists = [member for member in value.values() if isinstance(member, list)]
        if len(lists) != 1:
            return None
        value = lists[0]
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        return None
    return [str(member) for member in value]
