"""What sentences say of labels: each that names exactly one label outside quotation marks says something about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.text._phrases import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_QUOTED = re.compile(r"\"([^\"]{1,80})\"|“([^”]{1,80})”")
_OPENING = re.compile(r"\b(begin|begins|beginning|start|starts|starting|open|opens|opening)\b", re.IGNORECASE)
_ANYWHERE = re.compile(
    r"\b(about|contain|contains|containing|mention|mentions|with the words?|has|have)\b", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence says of one label: a topic, and phrases it quotes as signs of it.

    A phrase that starts with ``^`` is a sign only where a text opens with it.
    """

    label: int
    topic: str
    phrases: tuple[str, ...]


def read_sentences(text: str, labels: Sequence[str]) -> list[Statement]:
    """Read the sentences that name exactly one label outside quotation marks.

    >>> read_sentences('Questions that begin with "when" ask for Number.', ["Number", "Person"])
    [Statement(label=0, topic='when', phrases=('^when',))]
    """
    statements = (_read(sentence, labels) for sentence in _SENTENCE_END.split(text))
    return [statement for statement in statements if statement is not None]


def _read(sentence: str, labels: Sequence[str]) -> Statement | None:
    unquoted = _QUOTED.sub(" ", sentence)
    named = [index for index, label in enumerate(labels) if _names(unquoted, label)]
    if len(named) != 1:
        return None
    phrases = _phrases(sentence)
    without_label = re.sub(rf"(?<!\w){re.escape(labels[named[0]])}(?!\w)", " ", sentence)
    topic = ", ".join(phrase.removeprefix("^") for phrase in phrases) or " ".join(without_label.split())
    return Statement(named[0], topic, phrases)


def _names(text: str, label: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(label)}(?!\w)", text) is not None


def _phrases(sentence: str) -> tuple[str, ...]:
    phrases, opening, end = [], False, 0
    for match in _QUOTED.finditer(sentence):
        between = sentence[end : match.start()]
        if _ANYWHERE.search(between):
            opening = False
        if _OPENING.search(between):
            opening = True
        words = " ".join(words_of(match.group(1) or match.group(2)))
        if words:
            phrases.append(("^" if opening else "") + words)
        end = match.end()
    return tuple(phrases)
