"""Where a text names a label, and what its sentences say of labels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.text._phrases import field_and_phrase, phrase_of_field, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

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


@dataclass(frozen=True, slots=True)
class LabelMention:
    """What a sentence says of one label: a topic, and the cues it quotes.

    A cue is a phrase by which a text of that label is known; one that starts with ``^`` only where a text opens with
    it; one such as ``subject: bill`` where that field of a text shows it.
    """

    label: int
    topic: str
    cues: tuple[str, ...]


def names_label(text: str, label: str, *, match_case: bool = False) -> bool:
    """Tell whether a text names a label, as a whole word or words.

    Parameters
    ----------
    match_case : bool
        Writers, of rephrasings and of notes, start sentences with a label or write it small: they are judged by the
        words alone. Where a model reads a prompt by its labels (`label_mentions`), case is what tells the label Number
        from the word number.

    Examples
    --------
    >>> names_label("Is it a number or an entity?", "Number"), names_label("Numbers only.", "Number")
    (True, False)
    >>> names_label("Is it a number or an entity?", "Number", match_case=True)
    False
    """
    if not match_case:
        text = text.casefold()
        label = label.casefold()
    return _label_pattern(label).search(text) is not None


def label_mentions(text: str, labels: Sequence[str]) -> list[LabelMention]:
    """Read the sentences that name exactly one label, in its own case, outside quotation marks.

    >>> label_mentions('Questions that begin with "when" ask for Number.', ["Number", "Person"])
    [LabelMention(label=0, topic='when', cues=('^when',))]
    """
    mentions = (_mention(sentence, labels) for sentence in _SENTENCE_END.split(text))
    return [mention for mention in mentions if mention is not None]


def _mention(sentence: str, labels: Sequence[str]) -> LabelMention | None:
    unquoted = _QUOTED.sub(" ", sentence)
    named = _named(unquoted, labels)
    if len(named) > 1:  # a field may be called as a label is
        named = _named(_FIELD.sub(" ", unquoted), labels)
    if len(named) != 1:
        return None
    cues = quoted_cues(sentence)
    without_label = _label_pattern(labels[named[0]]).sub(" ", sentence)
    topic = ", ".join(field_and_phrase(cue)[1].removeprefix("^") for cue in cues) or " ".join(without_label.split())
    return LabelMention(named[0], topic, cues)


def _named(text: str, labels: Sequence[str]) -> list[int]:
    return [index for index, label in enumerate(labels) if names_label(text, label, match_case=True)]


def _label_pattern(label: str) -> re.Pattern[str]:
    # not \b, which is no border beside a label that ends in a sign, such as C++
    return re.compile(rf"(?<!\w){re.escape(label)}(?!\w)")


def quoted_cues(sentence: str) -> tuple[str, ...]:
    """Return the phrases that a sentence quotes, as cues (see `LabelMention`).

    What stands between two quotations says where the latter is a cue, or nothing new.

    >>> quoted_cues('It begins with "when", or its body contains "refund".')
    ('^when', 'refund')
    """
    cues = []
    opens = False
    field = ""
    end = 0
    for match in _QUOTED.finditer(sentence):
        between = sentence[end : match.start()]
        if _ANYWHERE.search(between):
            opens = False
        if _OPENING.search(between):
            opens = True
        field = _field(between, field)
        words = " ".join(words_of(match.group(1) or match.group(2)))
        if words:
            cues.append(phrase_of_field(field, ("^" if opens else "") + words))
        end = match.end()
    return tuple(cues)


def _field(between: str, field: str) -> str:
    """The field that the words before a quotation name, or the one named before."""
    named = _FIELD.findall(between)
    if named:
        return str(named[-1])
    return "" if _WHOLE_TEXT.search(between) else field
