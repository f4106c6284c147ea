"""What a prompt says of labels, and which texts it bears on.

================  =====  ==========================================================================================
Part              Pull   It bears on a text that shows
================  =====  ==========================================================================================
note              1.5    for each sentence that names one label: a phrase quoted in it (one that texts begin with,
                         at the beginning); if it quotes none, a content word of it
definition        0.5    a piece of it between commas and the like of up to three words, as a phrase, articles apart;
                         or a content word of a longer piece
few-shot example  0.25   a content word of it
================  =====  ==========================================================================================

A pull of rate r moves the share 1 - exp(-r): 78 %, 39 % and 22 %. Each sentence, definition and example pulls a text
once, however much of it the text shows, and whether that helps depends on the text's true label. Content words are
those that are no function words, up to a plural s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.text import ARTICLES, FUNCTION_WORDS, label_mentions, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.search_spaces import Prompt

NOTE, DEFINITION, EXAMPLE = 1.5, 0.5, 0.25
_LONGEST_PHRASE = 3
_PIECES = re.compile(r"[,;:.()?!\"“”]")


@dataclass(frozen=True, slots=True)
class Bearing:
    """Something that a prompt says of a label: its rate of pull, and the phrases and content words that concern it."""

    label: int
    pull: float
    phrases: tuple[str, ...]
    words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as bearings see it: its words between single spaces, and its content words."""

    spaced: str
    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Wording:
        """Read a text."""
        words = words_of(text)
        return cls(f" {' '.join(words)} ", _content(words))


def bearings(prompt: Prompt, labels: Sequence[str]) -> list[Bearing]:
    """Read a prompt: everything in it that pulls texts to one of `labels`."""
    nouns = _content(words_of(prompt.noun))
    found = []
    for note in prompt.notes:
        for mention in label_mentions(note, labels):
            words = frozenset() if mention.cues else _content(words_of(mention.topic)) - nouns
            found.append(Bearing(mention.label, NOTE, mention.cues, words))
    for definition in prompt.definitions:
        pieces = [words_of(piece) for piece in _PIECES.split(definition.text)]
        longer = [word for words in pieces if len(words) > _LONGEST_PHRASE for word in words]
        phrases = tuple(_short_phrases(pieces))
        found.append(Bearing(labels.index(definition.label), DEFINITION, phrases, _content(longer) - nouns))
    shown = [(labels.index(example.label), _content(words_of(example.text))) for example in prompt.examples]
    return found + [Bearing(label, EXAMPLE, (), words) for label, words in shown]


def pulls(said: Sequence[Bearing], texts: Sequence[Wording], n_labels: int) -> NDArray[np.float64]:
    """Return the rate at which each text is pulled to each label: (n_texts, n_labels), 0 or more."""
    rates = np.zeros((len(texts), n_labels))
    for one in said:
        rates[:, one.label] += one.pull * np.array([_concerns(one, text) for text in texts], dtype=bool)
    return rates


def _concerns(one: Bearing, text: Wording) -> bool:
    if not one.words.isdisjoint(text.words):
        return True
    return any(
        text.spaced.startswith(f" {phrase[1:]} ") if phrase[0] == "^" else f" {phrase} " in text.spaced
        for phrase in one.phrases
    )


def _short_phrases(pieces: Sequence[list[str]]) -> Iterator[str]:
    for words in pieces:
        kept = [word for word in words if word not in ARTICLES]
        if kept and len(words) <= _LONGEST_PHRASE:
            yield " ".join(kept)


def _content(words: Sequence[str]) -> frozenset[str]:
    telling = (word for word in words if word not in FUNCTION_WORDS)
    return frozenset(word[:-1] if len(word) > 2 and word.endswith("s") else word for word in telling)
