"""The lines of a prompt's text, and the kind of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from psopt.templates._fields import TAG, fences, json_objects, touching
from psopt.text import label_pattern, n_words, names_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psopt.templates._draft import DraftMessage

Kind = Literal[
    "blank", "fence", "heading", "lead", "bullet", "tag", "json", "field", "output", "labels", "caption", "prose"
]
"""A lead is a short line that ends in a colon and introduces what follows: ``Ticket:``."""

VERBS = (
    "analy[sz]e|annotate|answer|assess|assign|categori[sz]e|check|choose|classify|compare|consider|decide|detect|determine"
    "|discern|distinguish|estimate|evaluate|examine|extract|figure|file|find|flag|follow|forward|give|grade|group|guess"
    "|identify|indicate|infer|inspect|interpret|judge|label|look|map|mark|match|name|pick|place|predict|put|rank|rate|read"
    "|recogni[sz]e|respond|return|review|route|say|score|select|sort|specify|split|state|tag|tell|think|triage|use|verify"
    "|work"
)
"""Verbs with which the instructions of classifiers begin."""
CAPTION = re.compile(r"(?:your\s+)?(?:task|instructions?|goal|objective|question|job)\s*:\s+", re.IGNORECASE)
"""What may stand before an instruction on its line."""
_COMMAND = re.compile(rf"(?:{VERBS})\b", re.IGNORECASE)
_NOUNS = "answer|file|grade|group|label|map|mark|match|name|note|rank|rate|report|review|score|state|tag|use|work"
_OTHER_CAPTION = re.compile(rf"(?:(?:{_NOUNS})|(?!(?:{VERBS})\b)[^\W\d_][\w-]*(?:\s[\w-]+)?):\s+\S", re.IGNORECASE)
_HEADING = re.compile(r"#{1,6}[ \t]+\S|\*\*[^*]+\*\*:?$|__[^_]+__:?$|={3,}$|-{3,}$|\*{3,}$|\[[^\]]+\]$")
BULLET = re.compile(r"[ \t]*(?:[-*+•–]|\(?\d{1,3}[.)]|[a-zA-Z][.)])[ \t]+(?=\S)")
_WHOLE_TAG = re.compile(rf"\s*(?:{TAG.pattern})+\s*$")
_ENCLOSED = re.compile(r"\s*<(?P<tag>[A-Za-z_][\w.-]*)(?:\s[^<>\n]*)?>(?P<inner>[^\n]*)</(?P=tag)>\s*$")
_BY_FIRST_WORDS = ("output", "caption", "lead")  # kinds that a line within a wrapped sentence may seem to have
LEAD_WORDS = 5  # chosen: "Here is the new ticket:" introduces what follows, a longer line may be an instruction
_CAPTION_WORDS = 2  # chosen: "Review text:" is a caption, "Judge the review:" is not
_FILLING_WORDS = 4  # chosen: besides labels, a list of labels has hardly any words: "one of", "or", "Labels"
OUTPUT = re.compile(
    r"(?:please\s+|then\s+|finally,?\s+|now\s+|always\s+|only\s+|just\s+)*"
    r"(?:(?:answer|respond|reply|return|output|give|provide|write|print|use|end|finish|format|put|produce|emit|state|"
    r"say|report|wrap|enclose)\b(?=.*(?:\bjson\b|\bxml\b|\byaml\b|\blabels?\b|\bwords?\b|\bonly\b|\bexactly\b|\btags?\b"
    r"|\bformat\b|\bone of\b|\bnothing else\b|\bin the form\b|\bwith\b|\bas\b|\blast line\b|\banswer:"
    r"|\bfields?\b|\bkeys?\b|</?\w|[{`]))"
    r"|(?:the\s+)?(?:expected\s+)?(?:answer|output|response|reply|result|format|label|category|class)"
    r"(?:\s+format|\s+schema)?\s*:"
    r"|(?:your|the)\s+(?:\w+\s+)?(?:answer|output|response|reply)\s+(?:must|should|has to|is to|needs to|shall|will"
    r"|is)\b"
    r"|(?:do not|don't|never|no)\s+(?:\w+\s+)?(?:explain|explanations?|add|output|include|write|give|answer|return"
    r"|other text|comments?|markdown|prose|preamble)\b"
    r"|json\b|(?:labels|categories|classes|allowed|valid|possible)\b[^.]{0,40}:)",
    re.IGNORECASE | re.DOTALL,
)
"""A sentence that fixes how the answer looks, matched from its beginning."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its break; `start` and `end` leave out tags that enclose all of it."""

    text: str  # without white space at its ends
    kind: Kind
    start: int
    end: int
    outer_start: int
    outer_end: int


def newline_of(text: str) -> str:
    """Return the line break that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"


def lines_of(message: DraftMessage, labels: Sequence[str]) -> list[Line]:
    """Return the lines of a message with their kinds."""
    return list(_lines(message.text, tuple((field.start, field.end) for field in message.fields), tuple(labels)))


@lru_cache(maxsize=16)  # every step of reading a prompt looks at the lines of its few messages
def _lines(text: str, fields: tuple[tuple[int, int], ...], labels: tuple[str, ...]) -> tuple[Line, ...]:
    fenced, objects = fences(text), json_objects(text)
    lines: list[Line] = []
    position = 0
    for raw in text.split("\n"):
        end = position + len(raw.removesuffix("\r"))
        start, stop = position, end
        if enclosed := _ENCLOSED.match(text, position, end):
            start, stop = enclosed.span("inner")
        if touching(position, end, fenced):
            kind: Kind = "fence"
        elif any(_shows_json(text[start:first], text[first:last]) for first, last in touching(position, end, objects)):
            kind = "json"
        elif touching(start, stop, fields):
            kind = "field"
        else:
            kind = _kind(text[start:stop].strip(), labels)
        if kind in _BY_FIRST_WORDS and lines and _goes_on(text, lines[-1], start):
            kind = "prose"
        lines.append(Line(raw.strip(), kind, start, stop, position, end))
        position += len(raw) + 1
    return tuple(lines)


def _shows_json(before: str, json_text: str) -> bool:
    """Whether JSON is more than an aside: it has several lines, or no words stand before it on its line."""
    return "\n" in json_text or not before.strip()


def _goes_on(text: str, previous: Line, start: int) -> bool:
    """Whether a line continues a sentence that the previous line has not ended."""
    begun = text[previous.start : previous.end].rstrip()
    is_open = previous.kind == "prose" and previous.end == previous.outer_end and begun[-1:] not in ".:!?"
    return is_open and text[start : start + 1].islower()


def _kind(line: str, labels: Sequence[str]) -> Kind:
    if not line:
        return "blank"
    if _WHOLE_TAG.fullmatch(line):
        return "tag"
    if _HEADING.match(line):
        return "heading"
    if _is_label_list(line, labels):
        return "labels"
    if BULLET.match(line):
        return "bullet"
    if OUTPUT.match(line):
        return "output"
    most_words = _CAPTION_WORDS if _COMMAND.match(line) else LEAD_WORDS
    if line.endswith(":") and n_words(line) <= most_words:
        return "lead"
    if _OTHER_CAPTION.match(line) and not CAPTION.match(line):
        return "caption"
    return "prose"


def _is_label_list(line: str, labels: Sequence[str]) -> bool:
    named = [label for label in labels if names_label(line, label)]
    if not named or _COMMAND.match(line):
        return False
    remainder = line
    for label in sorted(named, key=len, reverse=True):
        remainder = label_pattern(label, re.IGNORECASE).sub(" ", remainder)
    return n_words(" ".join(re.findall(r"\w+", remainder))) <= min(_FILLING_WORDS, len(named) - 1)
