"""The fields and lines of a prompt's text: what is literal in it, and the kind of each line."""

from __future__ import annotations

import itertools
import re
import sys
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from psopt.errors import InputError, nearest
from psopt.templates._draft import Span
from psopt.templates._template import Field
from psopt.text import label_pattern, n_words, names_label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from psopt.templates._draft import DraftMessage


_FENCE = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"`[^`\n]+`")
_QUOTED = re.compile(
    r"\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|„[^„“”\n]*[“”]|(?<!\w)'[^'\n]*'(?!\w)|(?<!\w)‘[^‘’\n]*’(?!\w)"
)
_MEMBER = re.compile(r"\"[^\"\n]*\"\s*:")
TAG = re.compile(r"</?[A-Za-z_][\w.-]*(?:\s[^<>\n]*)?/?>")
_BRACES = re.compile(r"\{\{[ \t]*(?P<double>[^{}\n]*?[^{}\s])[ \t]*\}\}|\{(?P<single>[^{}\n]+)\}")
_NAME = re.compile(r"[^\W\d]\w*")
_TWO_WORDS = re.compile(r"[^\W\d][\w-]*[ -][\w-]+")
OWN = "psopt."
"""The prefix of the names of places for edits, such as ``{{psopt.notes}}``."""


def field_spans(text: str, columns: Collection[str], label_column: str, double_braces: bool) -> list[Span]:
    """Find the fields of a text; raises InputError if a name in braces is no column.

    A name in braces is a field if it names a column, wherever it stands. Another name is an error, unless it stands
    in quotes, in a code fence or within JSON; every other brace is text, and so is ``{body}`` if `double_braces`
    says that only ``{{ body }}`` is a field. The label column is no field, and the error says why.
    """
    spans = []
    for match, name, is_literal in _names(text, double_braces):
        if name in columns:
            spans.append(Span(*match.span(), (Field(name, match.group()),)))
        elif not is_literal and _NAME.fullmatch(name):
            raise _unknown(match.group(), name, columns, label_column)
    return spans


def names_in(text: str, columns: Collection[str], *, double_braces: bool = False) -> list[str]:
    """Return the names in braces that are fields; in quotes, code fences and JSON only those that are in `columns`."""
    named = _names(text, double_braces)
    return [name for _, name, literal in named if name in columns or (_NAME.fullmatch(name) and not literal)]


def literal_names(text: str, *, double_braces: bool) -> Iterator[tuple[re.Match[str], str]]:
    """Yield names in braces, outside JSON, that mean themselves if they are no columns: in quotes, or of two words."""
    objects = json_objects(text)
    for match, name, is_literal in _names(text, double_braces):
        is_hidden = is_literal and _NAME.fullmatch(name)
        if (is_hidden or _TWO_WORDS.fullmatch(name)) and not within(match.span(), objects):
            yield match, name


def has_expressions(text: str) -> bool:
    """Tell whether double braces hold anything, outside quotes, code fences and JSON."""
    literal = _literal_spans(text)
    return any(match["double"] and not within(match.span(), literal) for match in _BRACES.finditer(text))


def _names(text: str, double_braces: bool) -> Iterator[tuple[re.Match[str], str, bool]]:
    """Names in braces, and whether they stand where an unknown one means itself."""
    literal = _literal_spans(text)
    for match in _BRACES.finditer(text):
        name = match["double"] or match["single"]
        is_text = double_braces and not match["double"]
        if not is_text and not name.startswith(OWN):
            yield match, name, within(match.span(), literal)


def _unknown(spelled: str, name: str, columns: Collection[str], label_column: str) -> InputError:
    if name == label_column:
        return InputError(f"the prompt names {spelled}, the column of the labels: the prompt would tell the answer")
    return InputError(
        f"the prompt names {spelled}, and the data have no such column{nearest(name, columns) or ';'} columns: "
        f"{', '.join(columns)} (if the braces mean themselves, put them in quotes or a code fence)"
    )


def fences(text: str) -> list[tuple[int, int]]:
    """Where code fences are; an unclosed one extends to the end."""
    return [match.span() for match in _FENCE.finditer(text)]


def json_objects(text: str) -> list[tuple[int, int]]:
    """Where outermost braces hold something that looks like JSON: a quoted name and a colon."""
    members = [match.span() for match in _MEMBER.finditer(text)]
    spans = []
    opened: list[int] = []
    for match in re.finditer(r"[{}]", text):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            start = opened.pop()
            # An opening brace that is never closed must not hide what comes after it: inner objects count, too.
            first = bisect_left(members, (start, 0))
            if first < len(members) and members[first][1] <= match.end():
                spans.append((start, match.end()))
    return _outermost(spans)


def _literal_spans(text: str) -> list[tuple[int, int]]:
    """Where an unknown name in braces is no error: fences, inline code, quotations, JSON."""
    quoted = [match.span() for match in itertools.chain(_CODE.finditer(text), _QUOTED.finditer(text))]
    return _outermost([*fences(text), *quoted, *json_objects(text)])


def within(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a span lies in one of the others, which are in order and not nested."""
    before = bisect_right(others, (span[0], sys.maxsize)) - 1
    return before >= 0 and span[1] <= others[before][1]


def touching(start: int, end: int, others: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return those of the others, which are in order and don't overlap, that share a character with a stretch."""
    first = max(0, bisect_right(others, (start, sys.maxsize)) - 1)
    last = bisect_left(others, (end, 0))
    return [span for span in others[first:last] if start < span[1]]


def _outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    outermost: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outermost or span[1] > outermost[-1][1]:
            outermost.append(span)
    return outermost


Kind = Literal[
    "blank", "fence", "heading", "lead", "bullet", "tag", "json", "field", "output", "labels", "caption", "prose"
]
"""A lead is a short line that ends in a colon and introduces what follows: ``Ticket:``."""

VERBS = (
    "analy[sz]e|annotate|answer|assess|assign|categori[sz]e|check|choose|classify|compare|consider|decide|detect|determine"
    "|discern|distinguish|estimate|evaluate|examine|extract|figure|file|find|flag|follow|forward|give|grade|group|guess"
    "|identify|indicate|infer|inspect|interpret|judge|label|list|look|map|mark|match|name|pick|place|predict|put|rank|rate|read"
    "|recogni[sz]e|respond|return|review|route|say|score|select|sort|specify|split|state|tag|tell|think|triage|use|verify"
    "|work"
)
"""Verbs with which the instructions of classifiers begin."""
CAPTION = re.compile(r"(?:your\s+)?(?:task|instructions?|goal|objective|question|job)\s*:\s+", re.IGNORECASE)
"""What may stand before an instruction on its line."""
_COMMAND = re.compile(rf"(?:{VERBS})\b", re.IGNORECASE)
_NOUNS = "answer|file|grade|group|label|list|map|mark|match|name|note|rank|rate|report|review|score|state|tag|use|work"
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
        elif any(
            "\n" in text[first:last] or not text[start:first].strip()  # more than an aside
            for first, last in touching(position, end, objects)
        ):
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
