"""Answers that are several labels: the more labels two of them share, the more alike they are (Jaccard)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from psopt.answers._assertions import is_rejection
from psopt.answers._extract import UNKNOWN, unescaped
from psopt.answers._open_answers import OpenAnswers
from psopt.answers._reading import answering, declared_part, fenced_part, labels_in, uncrossed, whole_label
from psopt.tasks import set_written, written_set

_PARTS = re.compile(r"\s*(?:[,;|\n/]|\band\b|(?:^|\n)\s*[-*•]\s)\s*", re.IGNORECASE)
# "None", "no labels apply", "none of the above"
_NOTHING = re.compile(
    r"(?:none|null|n/a|\[\]|\{\}|no\s+(?:label|categor|class|tag|topic)\w*)"
    r"(?:\s+of\s+(?:the\s+|these\s*|those\s*|them\s*)(?:above|labels?|categories|classes|tags|topics)?)?"
    r"(?:\s+(?:appl(?:y|ies)|fits?|match(?:es)?))?",
    re.IGNORECASE,
)
_FIELDS = frozenset({"labels", "answers", "classes", "categories", "classifications", "predictions"})
_DEEPEST = 4  # levels of JSON within JSON: a bound on recursion, more than any answer needs
_HEADING = re.compile(r"\A\W*[^\W\d]\w*(?:[ \t]+\w+){0,2}\W*:")  # "Labels: "
_BETWEEN = re.compile(r"(?:[\W_]|\b(?:\d{1,3}(?=[.):])|and|und|et|y|e)\b)*", re.IGNORECASE)
_EDGES = " \t\r\n.\"'`*_-•[](){}"


@dataclass(frozen=True, slots=True)
class LabelSets(OpenAnswers):
    """Several labels per sample, or none."""

    is_exact: bool = False  # whether two sets are just the same or not, instead of alike to a degree

    quality_name = "micro-F1"  # 2 TP / (2 TP + FP + FN) over all labels of all answers

    @property
    def note(self) -> str:
        alike = "sets as alike as far as they share labels (Jaccard)"
        if self.is_exact:
            alike = "sets as the same or not"
        return f"Answers are several labels: S counts {alike}, and C is pooled over labels"

    @property
    def is_graded(self) -> bool:
        return not self.is_exact

    def similarity(self, first: str, second: str) -> float:
        """Return the Jaccard coefficient, 1 for two empty sets; it is a kernel."""
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
    """
    block = (fenced_part(answer) or answer).strip()
    text = uncrossed(block, labels) if _listed(block, labels) is None else block
    if text is None:
        return None, UNKNOWN
    for part in (text.strip(), declared_part(text)):
        named = None if part is None else _named(part, labels)
        if named is not None:
            return written_set(named, labels), ""
    return None, UNKNOWN


def _named(text: str, labels: tuple[str, ...]) -> list[str] | None:
    """The labels that a text gives, which may be none; None if it says anything else."""
    members = _listed(text, labels)
    if members is None:
        members = _written(text, labels)
    if members is None:
        return None
    places = [whole_label(member, labels) for member in members]
    if all(place < len(labels) for place in places):
        return [labels[place] for place in places]
    return [] if all(map(_is_nothing, members)) else None


def _written(text: str, labels: tuple[str, ...]) -> list[str] | None:
    """The parts of a text that should be labels, none if it says so or all are struck out; None if there are none."""
    if whole_label(text, labels) < len(labels):
        return [text]
    if named := _nothing_but_labels(text, labels):
        return named
    if not text or _is_nothing(text):
        return []
    return [part for part in _PARTS.split(text.strip(_EDGES)) if part.strip(_EDGES)] or None


def _is_nothing(text: str) -> bool:
    return any(_NOTHING.fullmatch(bare) for bare in (text.strip(), text.strip(_EDGES)))


def _nothing_but_labels(text: str, labels: tuple[str, ...]) -> list[str]:
    """The labels that a text names, if it has no other words: a label may itself contain a comma or "and"."""
    plain = unescaped(text)
    standing = labels_in(plain, labels)
    ends = [0, *(place.end for place in standing)]
    starts = [*(place.start for place in standing), len(plain)]
    between = [plain[end:start] for end, start in zip(ends, starts, strict=True)]
    heading = _HEADING.match(between[0])
    if heading is not None and is_rejection(heading[0].rstrip(":")):
        return []
    between[0] = _HEADING.sub("", between[0])
    if not all(_BETWEEN.fullmatch(part) for part in between):
        return []
    return [labels[place.label] for place in standing]


def _listed(text: str, labels: tuple[str, ...]) -> list[str] | None:
    """The texts in JSON that should be labels; None if it is no JSON, or unclear."""
    try:
        return _texts(json.loads(text), labels)
    except (ValueError, RecursionError):
        return None


def _texts(value: Any, labels: tuple[str, ...], depth: int = 0) -> list[str] | None:
    """The texts of a list, of an object's answer or its only list, or the true keys of truth values (or 0, 1)."""
    if isinstance(value, dict) and value and depth < _DEEPEST:
        are_truths = all(truth in (0, 1) for truth in value.values())
        if are_truths and any(whole_label(name, labels) < len(labels) for name in value):
            return [label for label, is_said in value.items() if is_said]
        named = [member for name, member in value.items() if name.casefold() in _FIELDS]
        possible = named or answering(value)
        if len(possible) > 1:
            possible = [member for member in possible if isinstance(member, list)]
        return _texts(possible[0], labels, depth + 1) if len(possible) == 1 else None
    if isinstance(value, str):
        return _written(value, labels)
    if isinstance(value, list):
        return [str(member) for member in value if member not in (None, "")]
    return [] if value in (None, {}) else None
