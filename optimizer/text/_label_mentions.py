"""Where a text names a label, and what its sentences and lines say about labels, as a simple model reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.text._phrases import field_and_phrase, phrase_of_field, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_QUOTED = re.compile(r"\"([^\"]{1,80})\"|“([^”]{1,80})”")
_OPENING = re.compile(r"\b(begin|begins|beginning|start|starts|starting|open|opens|opening)\b", re.IGNORECASE)
_ANYWHERE = re.compile(
    r"\b(about|contain|contains|containing|mention|mentions|with the words?|has|have)\b", re.IGNORECASE
)
_FIELD = re.compile(
    r"\bwhose\s+(.+?)\s+(?:begins?|starts?|opens?|contains?|mentions?|has|have)\b", re.IGNORECASE | re.DOTALL
)
_WHOLE_TEXT = re.compile(r"\bthat\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])")
# Up to this many words, a line may be a heading or a field's name that says nothing about the task. Chosen.
_HEADING_WORDS = 4
_MARKS = re.compile(r"^[\s>#*•–-]+|[*`]+|^\s*\d+[.)]\s+")
_ITEM = re.compile(r"\s*(?:[-*•#>|<]|\d+[.)]\s)|    |\t")
_TAG = re.compile(r"</?\w[^<>]*>")


@dataclass(frozen=True, slots=True)
class LabelMention:
    """What a sentence says about one label: a topic, and the cues it quotes.

    A cue is a phrase that marks texts of that label. One that starts with ``^`` does so only where a text begins with
    it; one such as ``subject: bill``, where that field of a text shows it.
    """

    label: int
    topic: str
    cues: tuple[str, ...]


def names_label(text: str, label: str, *, match_case: bool = False) -> bool:
    """Tell whether a text names a label, as a whole word or words, in any case or (`match_case`) its own.

    >>> names_label("Is it a number or an entity?", "Number"), names_label("Numbers only.", "Number")
    (True, False)
    >>> names_label("Is it a number or an entity?", "Number", match_case=True)
    False
    """
    if not match_case:
        text = text.casefold()
        label = label.casefold()
    return label_pattern(label).search(text) is not None


def label_pattern(label: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern that finds a label in a text, as a whole word or words."""
    # not \b, which is no boundary next to a label that ends in a sign, such as C++
    return re.compile(rf"(?<!\w){re.escape(label)}(?!\w)", flags)


def label_mentions(text: str, labels: Sequence[str]) -> list[LabelMention]:
    """Read the sentences that name exactly one label, in its own case, outside quotation marks.

    >>> label_mentions('Questions that begin with "when" ask for Number.', ["Number", "Person"])
    [LabelMention(label=0, topic='when', cues=('^when',))]
    """
    mentions = []
    for sentence in _SENTENCE_END.split(text):
        unquoted = _QUOTED.sub(" ", sentence)
        named = _named(unquoted, labels)
        if len(named) > 1:  # a field may have the same name as a label
            named = _named(_FIELD.sub(" ", unquoted), labels)
        if len(named) == 1:
            cues = quoted_cues(sentence)
            without_label = " ".join(label_pattern(labels[named[0]]).sub(" ", sentence).split())
            topic = ", ".join(field_and_phrase(cue)[1].removeprefix("^") for cue in cues) or without_label
            mentions.append(LabelMention(named[0], topic, cues))
    return mentions


def _named(text: str, labels: Sequence[str]) -> list[int]:
    return [index for index, label in enumerate(labels) if names_label(text, label, match_case=True)]


def quoted_cues(sentence: str) -> tuple[str, ...]:
    """Return the phrases that a sentence quotes, as cues (see `LabelMention`).

    The words between two quotations say where the second one is a cue; if they don't, it is where the first one is.

    >>> quoted_cues('It begins with "when", or its body contains "refund".')
    ('^when', 'refund')
    """
    cues = []
    opening, field = "", ""
    end = 0
    for match in _QUOTED.finditer(sentence):
        between = sentence[end : match.start()]
        if _OPENING.search(between):
            opening = "^"
        elif _ANYWHERE.search(between):
            opening = ""
        if named_fields := _FIELD.findall(between):
            field = named_fields[-1]
        elif _WHOLE_TEXT.search(between):
            field = ""
        words = " ".join(words_of(match.group(1) or match.group(2)))
        if words:
            cues.append(phrase_of_field(field, opening + words))
        end = match.end()
    return tuple(cues)


@dataclass(frozen=True, slots=True)
class Statements:
    """A text, sorted by what it says about labels."""

    definitions: tuple[tuple[str, str], ...]  # one per label: several in the text are joined by semicolons
    # Lines with a sentence that names one label; headings, names of fields and the form of the answer are left out
    notes: tuple[str, ...]


def statements(text: str, labels: Sequence[str]) -> Statements:
    r"""Read what a text says about labels; each line counts once.

    >>> text = "# Teams\n\n- **sales**: offers\n\nSort mail.\nBills go to billing."
    >>> said = statements(text, ["sales", "billing"])
    >>> said.definitions, said.notes
    ((('sales', 'offers'),), ('Sort mail. Bills go to billing.',))
    """
    definitions: dict[str, list[str]] = {}
    notes = []
    for line in dict.fromkeys(_lines(text)):
        if defined := _definition(line, labels):
            definitions.setdefault(defined[0], []).append(defined[1])
        elif not any(f">{label}<" in line for label in labels) and label_mentions(line, labels):  # no form of an answer
            notes.append(line)
    joined = tuple((label, "; ".join(meanings)) for label, meanings in definitions.items())
    return Statements(joined, tuple(notes))


def _lines(text: str) -> Iterator[str]:
    """The lines with content; wrapped paragraphs are joined into one line."""
    for paragraph in re.split(r"\n\s*\n", text):
        joined: list[str] = []
        for line in paragraph.splitlines():
            if _ITEM.match(line) or not joined:
                joined.append(line)
            elif line.strip():
                joined[-1] += " " + line.strip()
        for line in joined:
            if line.lstrip().startswith(("{", "[", "}")):
                continue  # the form of an answer
            spoken = _MARKS.sub("", line).strip()
            is_heading = spoken.endswith(":") or line.lstrip().startswith("#") or not _TAG.sub("", spoken).strip()
            if spoken and not (is_heading and len(_TAG.sub("", spoken).split()) <= _HEADING_WORDS):
                yield spoken


def _definition(line: str, labels: Sequence[str]) -> tuple[str, str] | None:
    """A line that says what a label means: ``label: ..``, or a tag that names the label."""
    for label in sorted(labels, key=len, reverse=True):
        name = re.escape(label)
        written = rf"{name}\s*(?::|=|->|→|[–—]|- )\s*(\S.*)"
        tagged = rf"<\w+[^>]*[\"']{name}[\"'][^>]*>(.+?)</\w+>"
        for form in (written, tagged, rf"<{name}>(.+?)</{name}>"):
            if meaning := re.match(form, line):
                return label, meaning[1]
    return None
