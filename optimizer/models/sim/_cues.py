"""What a prompt says about labels, and which texts that concerns.

================  =====  ==========================================================================================
Part              Pull   It concerns a text that shows
================  =====  ==========================================================================================
note              1.5    for each sentence that names one label: a phrase quoted in it (one that texts begin with,
                         at the beginning); if it quotes none, a content word of it
definition        0.5    a piece of up to three words between commas and the like, as a phrase without articles;
                         or a content word of a longer piece
few-shot example  0.25   a content word of it
================  =====  ==========================================================================================

A pull of rate r moves the share 1 - exp(-r): 78 %, 39 % and 22 %. Each sentence, definition and example pulls a text
once, however much of it the text shows, and whether that helps depends on the text's true label. Content words are all
words except function words; a plural s is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from psopt.tasks import sample_shows_any
from psopt.text import ARTICLES, FUNCTION_WORDS, label_mentions, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.search_spaces import Prompt

# Chosen, not measured: a note should decide most texts that it concerns, an example few; the effects should differ.
NOTE = 1.5
DEFINITION = 0.5
EXAMPLE = 0.25
_LONGEST_PHRASE = 3
_PIECES = re.compile(r"[,;:.()?!\"“”]")


@dataclass(frozen=True, slots=True)
class Cue:
    """Something that a prompt says of a label: its rate of pull, and the phrases and content words that concern it."""

    label: int
    pull: float
    phrases: tuple[str, ...]
    words: frozenset[str] = frozenset()

    def concerns(self, text: str) -> bool:
        return not self.words.isdisjoint(content_words(text)) or sample_shows_any(text, self.phrases)


def pulls(prompt: Prompt, labels: Sequence[str], texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the rate at which a prompt pulls each text to each label: (n_texts, n_labels), 0 or more."""
    rates = np.zeros((len(texts), len(labels)))
    for cue in _cues(prompt, labels):
        rates[:, cue.label] += cue.pull * np.array([cue.concerns(text) for text in texts], dtype=bool)
    return rates


def _cues(prompt: Prompt, labels: Sequence[str]) -> Iterator[Cue]:
    nouns = content_words(prompt.noun)
    for note in prompt.notes:
        for mention in label_mentions(note, labels):
            words = frozenset() if mention.cues else content_words(mention.topic) - nouns
            yield Cue(mention.label, NOTE, mention.cues, words)
    for definition in prompt.definitions:
        pieces = [words_of(piece) for piece in _PIECES.split(definition.text)]
        longer = chain.from_iterable(words for words in pieces if len(words) > _LONGEST_PHRASE)
        short = [[word for word in words if word not in ARTICLES] for words in pieces if len(words) <= _LONGEST_PHRASE]
        phrases = tuple(" ".join(words) for words in short if words)
        yield Cue(labels.index(definition.label), DEFINITION, phrases, _content(longer) - nouns)
    for example in prompt.examples:
        yield Cue(labels.index(example.label), EXAMPLE, (), content_words(example.text))


@lru_cache(maxsize=100_000)
def content_words(text: str) -> frozenset[str]:
    return _content(words_of(text))


def _content(words: Iterable[str]) -> frozenset[str]:
    return frozenset(_singular(word) for word in words if word not in FUNCTION_WORDS)


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > 2 else word
